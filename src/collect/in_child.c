#include "collect/in_child.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool in_child_begin(struct in_child *child, uint64_t (*measure)(const void *context),
		    const void *context)
{
	uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*child = (struct in_child){ .pid = 0 };
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
	*child = (struct in_child){ .pid = pid, .shared = shared };
	return true;
}

bool in_child_take(struct in_child *child, bool must_wait, uint64_t *out_result)
{
	*out_result = 0;
	if (child->pid == 0)
		return true;
	if (waitpid(child->pid, NULL, must_wait ? 0 : WNOHANG) == 0)
		return false;
	*out_result = *child->shared;
	munmap(child->shared, sizeof *child->shared);
	*child = (struct in_child){ .pid = 0 };
	return true;
}

uint64_t in_child(uint64_t (*measure)(const void *context), const void *context)
{
	struct in_child child;
	uint64_t result = 0;

	if (in_child_begin(&child, measure, context))
		in_child_take(&child, true, &result);
	return result;
}
