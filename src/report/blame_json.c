/* Writes what made threads wait, as JSON. */
#include <json-c/json.h>
#include <stdbool.h>

#include "base/memory.h"
#include "profile/blame.h"
#include "profile/filter.h"
#include "profile/info.h"
#include "profile/profile.h"
#include "report/blame.h"
#include "report/json.h"
#include "report/selection.h"

/* Innermost first. */
static struct json_object *stack_of(const struct profile *profile, struct stack_id id)
{
	struct json_object *array = json_object_new_array();

	for (const struct stack *stack; (stack = profile_get_stack(profile, id)) != NULL;
	     id = stack->parent) {
		const struct frame *frame = profile_get_frame(profile, stack->frame);
		const struct function *function =
			frame ? profile_get_function(profile, frame->function) : NULL;
		struct json_object *object = json_object_new_object();

		json_add_string(object, "name", function ? function->name : NULL);
		json_add_string(object, "file",
				frame && frame->file ? frame->file
				: function           ? function->file
						     : NULL);
		json_add_figure(object, "line", frame ? frame->line : 0, 0);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *thread_of(const struct profile *profile, struct thread_id id,
				     struct stack_id stack)
{
	const struct thread *thread = profile_get_thread(profile, id);
	const struct process *process =
		thread ? profile_get_process(profile, thread->process) : NULL;
	struct json_object *object = json_object_new_object();

	json_add_figure(object, "pid", process ? (uint64_t)process->pid : 0, 0);
	json_add_figure(object, "tid", thread ? (uint64_t)thread->tid : 0, 0);
	json_add_string(object, "thread", thread ? thread->name : NULL);
	json_add(object, "stack", stack_of(profile, stack));
	return object;
}

/* Adds either the pairs with an owner, or those without. */
static void add_rows(struct json_writer *writer, const char *name,
		     const struct selection *selection, bool is_owned)
{
	const struct profile *profile = selection->profile;
	const struct blames *blames = profile_get_info(profile)->blames;

	json_writer_begin(writer, name, '[');
	for (size_t i = 0; i < blames->count; i++) {
		const struct blame *row = &blames->rows[i];
		const struct weight weight = { .stack = row->waiter_stack,
					       .thread = row->waiter,
					       .state = row->state };
		struct json_object *object;

		if (!filter_keeps(selection->filter, &weight) ||
		    (row->owner.n != 0) != is_owned)
			continue;
		object = json_object_new_object();
		json_add_string(object, "state", thread_state_name(row->state));
		json_add_u64(object, "ns", row->ns);
		json_add_u64(object, "waits", row->waits);
		json_add(object, "waiter", thread_of(profile, row->waiter, row->waiter_stack));
		if (is_owned)
			json_add(object, "holder",
				 thread_of(profile, row->owner, row->owner_stack));
		json_writer_add(writer, NULL, object);
	}
	json_writer_end(writer, ']');
}

void blame_add_json(struct json_writer *writer, const struct selection *selection)
{
	add_rows(writer, "blame", selection, true);
	add_rows(writer, "blame_unowned", selection, false);
}
