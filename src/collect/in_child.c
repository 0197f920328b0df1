#include "collect/in_child.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t in_child(uint64_t (*measure)(const void *context), const void *context)
{
	uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return 0;
	pid_t pid = fork();

	if (pid == 0) {
		*shared = measure(context);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	const uint64_t result = *shared;

	munmap(shared, sizeof *shared);
	return result;
}
