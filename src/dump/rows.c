#include "dump/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/agent_path.h"
#include "base/memory.h"
#include "load/plumbing.h"
#include "remote/process.h"
#include "remote/snapshot.h"
#include "symbol/symbolizer.h"

static struct symbol_module *open_module(struct dump *dump, const struct remote_image *image)
{
	if (*image->path != '/')
		return dump->remote->fd >= 0 ? symbolizer_open_vdso(dump->symbolizer) : NULL;
	CLEANUP(freep) char *path = remote_image_path(dump->remote, image);

	return symbolizer_open_elf(dump->symbolizer, path,
				   image->build_id_len > 0 ? image->build_id : NULL,
				   image->build_id_len);
}

static struct symbol_module *module_of(struct dump *dump, const struct remote_image *image)
{
	struct symbol_module **module = &dump->modules[image - dump->remote->images.images];

	if (!*module)
		*module = open_module(dump, image);
	return *module;
}

static void push(struct dump_thread *thread, const struct dump_row *row)
{
	thread->rows = array_grow(thread->rows, thread->count, &thread->capacity,
				  sizeof *thread->rows);
	thread->rows[thread->count++] = *row;
}

/* State of one lookup of an address. */
struct visit {
	struct dump_thread *thread;
	struct dump_row row;
};

static void visit(void *context, const struct symbol_location *location)
{
	struct visit *v = context;
	struct dump_row row = v->row;

	row.name = location->name;
	row.file = location->line_file ? location->line_file : location->file;
	row.line = location->line_number;
	row.is_inlined = location->is_inlined;
	push(v->thread, &row);
}

static void name_native(struct dump *dump, struct dump_thread *thread,
			const struct stack_frame *frame)
{
	const struct remote *remote = dump->remote;
	const struct remote_image *image = remote_images_find(&remote->images, frame->address);
	struct visit v = { .thread = thread,
			   .row = { .language = DUMP_NATIVE,
				    .name = "[code made at run time]",
				    .address = frame->address,
				    .is_guess = frame->is_guess,
				    .frame = frame } };
	struct symbol_module *module = image ? module_of(dump, image) : NULL;

	if (image)
		v.row.module = v.row.name = image->path;
	if (!module) {
		push(thread, &v.row);
		return;
	}
	symbol_module_look_up(module,
			      *image->path == '/'
				      ? remote_file_offset(remote->maps, frame->address)
				      : frame->address - image->native.start,
			      visit, &v, NULL);
}

static void name_interpreted(struct dump_thread *thread, const struct stack_frame *frame)
{
	thread->is_interpreted = true;
	push(thread,
	     &(struct dump_row){
		     .language = frame->kind == STACK_PYTHON || frame->kind == STACK_PYTHON_C
					 ? DUMP_PYTHON
					 : DUMP_RUBY,
		     .name = frame->name ? frame->name : "[function without a name]",
		     .file = frame->file,
		     .line = frame->line,
		     .frame = frame,
	     });
}

static bool is_interpreters(const struct remote *remote, const struct dump_row *row)
{
	const struct plumbing_file file = plumbing_of_file(row->module);

	if (file.kind == PLUMBING_INTERPRETER || file.kind == PLUMBING_STANDARD)
		return true;
	return (remote->python && plumbing_is_own_name(LANGUAGE_PYTHON, row->name)) ||
	       (remote->ruby && plumbing_is_own_name(LANGUAGE_RUBY, row->name));
}

/* Its functions, and those of libc that start it or its threads. */
static bool is_interpreters_own(const struct remote *remote, const struct dump_row *row,
				bool is_outside)
{
	return is_interpreters(remote, row) ||
	       (is_outside && plumbing_of_file(row->module).kind == PLUMBING_LIBC);
}

/* Decided by the native frames further in than Python's innermost: these functions are API. */
static bool waits_for_python_lock(const struct remote_thread *thread,
				  const struct dump_thread *named)
{
	if (thread->call.is_running || thread->call.number != SYS_futex ||
	    thread->locks.waits_for_gil)
		return false;
	for (size_t i = 0; i < named->count && named->rows[i].language == DUMP_NATIVE; i++) {
		const char *name = named->rows[i].name;

		if (strcmp(name, "PyThread_acquire_lock_timed") == 0 ||
		    strcmp(name, "PyThread_acquire_lock") == 0 ||
		    strcmp(name, "_PySemaphore_Wait") == 0 /* from 3.13 on */)
			return true;
	}
	return false;
}

/* Marks frames outside of the program's own language, interpreter frames, and the agent's. */
static void mark_plumbing(const struct remote *remote, struct dump_thread *thread)
{
	bool is_outside = true;

	for (size_t i = thread->count; i-- > 0;) {
		struct dump_row *row = &thread->rows[i];

		if (row->language != DUMP_NATIVE)
			is_outside = false;
		else if (row->module)
			row->is_plumbing = path_is_agent(row->module) ||
					   (thread->is_interpreted &&
					    is_interpreters_own(remote, row, is_outside));
	}
}

void dump_name(const struct remote *remote, const struct snapshot *snapshot, bool has_all_lines,
	       struct notes *notes, struct dump *out_dump)
{
	struct dump *dump = out_dump;

	*dump = (struct dump){
		.remote = remote,
		.snapshot = snapshot,
		.threads = xzalloc((snapshot->count + 1) * sizeof *dump->threads),
		.symbolizer = symbolizer_new(notes),
		.modules = xzalloc((remote->images.count + 1) * sizeof(void *)),
	};
	if (!has_all_lines)
		symbolizer_leave_installed_lines(dump->symbolizer);
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct remote_stack *stack = &snapshot->threads[i].stack;

		for (size_t j = 0; j < stack->count; j++) {
			if (stack->frames[j].kind == STACK_NATIVE)
				name_native(dump, &dump->threads[i], &stack->frames[j]);
			else
				name_interpreted(&dump->threads[i], &stack->frames[j]);
		}
		mark_plumbing(remote, &dump->threads[i]);
		dump->threads[i].waits_for_python_lock =
			waits_for_python_lock(&snapshot->threads[i], &dump->threads[i]);
	}
}

void dump_done(struct dump *dump)
{
	for (size_t i = 0; dump->snapshot && i < dump->snapshot->count; i++)
		free(dump->threads[i].rows);
	free(dump->threads);
	free(dump->modules);
	symbolizer_free(dump->symbolizer);
	*dump = (struct dump){ 0 };
}
