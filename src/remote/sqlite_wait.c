#include "remote/sqlite_wait.h"

#include <string.h>
#include <sys/syscall.h>

#include "remote/process.h"
#include "remote/stack.h"
#include "remote/task.h"

/* Frames between the system call and its caller: of the C library, and of our agent. */
#define FRAMES_MOST 8U

static bool is_file(const struct remote_image *image, const char *begin)
{
	const char *slash = strrchr(image->path, '/');
	const char *name = slash ? slash + 1 : image->path;

	return strncmp(name, begin, strlen(begin)) == 0;
}

bool sqlite_waits_for_lock(const struct remote *remote, const struct task_call *call,
			   const struct remote_stack *stack)
{
	if (stack == NULL || call->is_running ||
	    (call->number != SYS_clock_nanosleep && call->number != SYS_nanosleep))
		return false;
	for (size_t i = 0; i < stack->count && i < FRAMES_MOST; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		const struct remote_image *image =
			frame->kind == STACK_NATIVE
				? remote_images_find(&remote->images, frame->address)
				: NULL;

		if (image == NULL)
			return false;
		if (!image->is_agent && !is_file(image, "libc.") && !is_file(image, "libc-"))
			return is_file(image, "libsqlite3.so");
	}
	return false;
}
