#include "collect/system/child_measurement.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool child_measurement_begin(struct child_measurement *child,
			     uint64_t (*measure)(const void *context), const void *context)
{
	uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*child = (struct child_measurement){ .pid = 0 };
	if (shared == MAP_FAILED)
		return false;
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
		*shared = measure(context);
		_exit(0);
	}
	if (pid < 0) {
		munmap(shared, sizeof *shared);
		return false;
	}
	*child = (struct child_measurement){ .pid = pid, .shared = shared };
	return true;
}

bool child_measurement_take(struct child_measurement *child, bool must_wait,
			    uint64_t *out_result)
{
	*out_result = 0;
	if (child->pid == 0)
		return true;
	if (waitpid(child->pid, NULL, must_wait ? 0 : WNOHANG) == 0)
		return false;
	*out_result = *child->shared;
	munmap(child->shared, sizeof *child->shared);
	*child = (struct child_measurement){ .pid = 0 };
	return true;
}

uint64_t child_measurement_run(uint64_t (*measure)(const void *context), const void *context)
{
	struct child_measurement child;
	uint64_t result = 0;

	if (child_measurement_begin(&child, measure, context))
		child_measurement_take(&child, true, &result);
	return result;
}
