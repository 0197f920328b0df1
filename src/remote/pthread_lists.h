/* pthread_lists - where a process has glibc's lists of its threads (pthreads.h). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialized: not looked for yet. */
struct pthread_lists {
	bool is_known, is_there;
	uint64_t used, user; /* addresses of their heads */
	uint32_t link;       /* offset in struct pthread */
};
