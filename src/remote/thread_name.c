#include "remote/thread_name.h"

#include "remote/process.h"
#include "remote/python.h"
#include "remote/ruby.h"
#include "remote/stack.h"
#include "remote/walk.h"
#include "walk/python_thread.h"

/* By the outermost frame, which is Thread._bootstrap() in threads of the threading module. */
static const char *name_by_stack(struct remote *remote, const struct remote_stack *stack)
{
	const struct python_layout *layout = remote_python_layout(remote->python);
	struct name_text name = { 0 };
	size_t i = stack->is_full ? 0 : stack->count;

	while (i > 0 && stack->frames[i - 1].kind != STACK_PYTHON)
		i--;
	if (i == 0)
		return NULL;
	const struct python_frame outermost = { .address = stack->frames[i - 1].object,
						.code = stack->frames[i - 1].code };

	return python_thread_name(&remote->mem, layout, &outermost, &name) < 0
		       ? NULL
		       : remote_keep_name(remote, &name);
}

const char *thread_name_read(struct remote *remote, const struct walk_states *states,
			     const struct remote_stack *stack)
{
	const char *name = NULL;

	if (remote->ruby && states->ruby != 0)
		name = remote_ruby_thread_name(remote, states->ruby);
	if (!name && remote->python && states->python != 0)
		name = name_by_stack(remote, stack);
	return name;
}
