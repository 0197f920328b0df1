#include "remote/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/global_reader.h"
#include "remote/interpreter_files.h"
#include "remote/process.h"
#include "remote/pthreads.h"
#include "target/python.h"
#include "walk/python.h"

#define MOST_INTERPRETERS 256U
#define MOST_STATES       65536U
/* sizeof(struct _gil_runtime_state): an interval, the holder, locked, two conditions and mutexes. */
#define GIL_SIZE 208U
/* 3.7 to 3.11: from _PyRuntime.ceval.gil to .gilstate.tstate_current. */
#define GIL_BEFORE_CURRENT 216U

/*
 * Of one thread with sub-interpreters: of further ones it is not checked which executes
 * something.
 */
#define MOST_STATES_OF_A_THREAD 64U

/* From 3.11 on PyThreadState.native_thread_id follows thread_id. */
#define NATIVE_ID_FIRST 0x030b0000U
/* From 3.12 on each interpreter has a GIL of its own, or a pointer to the one it shares. */
#define OWN_GIL_FIRST 0x030c0000U

/* struct _gil_runtime_state: unsigned long interval; PyThreadState *last_holder; int locked. */
#define GIL_HOLDER 8U
#define GIL_LOCKED 16U
/* PyInterpreterState.ceval.gil: in 3.12; from 3.13 on ceval is the second field. */
#define GIL_OF_INTERPRETER_3_12 0x180U
#define GIL_OF_INTERPRETER      16U

struct state {
	uint64_t state, interpreter, gil;
	uint64_t pointer; /* its thread's pthread_self() */
	pid_t tid;
};

struct remote_python {
	const struct python_image *image; /* of remote->files */
	struct python_layout layout;
	uint64_t head;    /* where the first interpreter is; 0: unknown, or not yet known */
	uint64_t current; /* 2.7 to 3.11: where the GIL holder's state is; likewise */
	uint64_t current_function; /* the function that returns that pointer; 0: none */
	struct state *states;
	size_t count, capacity;
};

/*
 * Finds the globals; in a process that has just begun they may not be relocated yet: then
 * later.
 */
static void find_globals(struct remote *remote, struct remote_python *python)
{
	if (python->head == 0 &&
	    !global_reader_find(&remote->mem, python->layout.head_function, &python->head))
		python->head = 0;
	if (python->current == 0 && python->current_function != 0 &&
	    !global_reader_find(&remote->mem, python->current_function, &python->current))
		python->current = 0;
}

bool remote_python_find(struct remote *remote, const struct remote_image *image,
			const char *path)
{
	const struct python_image *file = interpreter_files_python(remote->files, path);

	if (!file)
		return false;
	if (python_image_why_not(file)) {
		const char *why = python_image_why_not(file);

		remote->why_no_python = remote_keep(remote, why, strlen(why));
		return false;
	}
	struct remote_python *python = xzalloc(sizeof *python);

	python->image = file;
	python_image_layout(file, image->bias, &python->layout);
	if (remote->images.count > 0) {
		const struct remote_image *program = &remote->images.images[0];
		CLEANUP(freep) char *its_path = remote_image_path(remote, program);

		python_layout_use_copies(&python->layout, its_path, program->bias);
	}
	if (python->layout.version < OWN_GIL_FIRST)
		python->current_function =
			remote_symbol_at(path, image->bias, "_PyThreadState_UncheckedGet");
	find_globals(remote, python);
	remote->python = python;
	return true;
}

void remote_python_free(struct remote_python *python)
{
	if (!python)
		return;
	free(python->states);
	free(python);
}

const struct python_layout *remote_python_layout(const struct remote_python *python)
{
	return &python->layout;
}

const char *remote_python_version(const struct remote_python *python)
{
	return python_image_version(python->image);
}

/* The state's pthread_self(); 0: it cannot be read. */
static uint64_t pointer_of(const struct remote *remote, uint64_t state)
{
	struct mem *mem = (struct mem *)&remote->mem;
	uint64_t pointer;

	return mem_read(mem, &pointer, sizeof pointer,
			state + remote->python->layout.offsets.state_thread_id) < 0
		       ? 0
		       : pointer;
}

/* The thread that a state belongs to, as the process's own PID namespace numbers it. */
static pid_t thread_of(struct remote *remote, uint64_t state, uint64_t pointer)
{
	const struct python_layout *layout = &remote->python->layout;
	uint64_t number;
	pid_t tid;

	if (pointer == 0)
		return 0;
	tid = pthreads_tid_at(remote, pointer);
	if (tid > 0 || layout->version < NATIVE_ID_FIRST)
		return tid;
	if (mem_read(&remote->mem, &number, sizeof number,
		     state + layout->offsets.state_thread_id + sizeof pointer) < 0)
		return 0;
	return (pid_t)number;
}

/* The GIL that an interpreter uses; 0: there is none, or its place is unknown. */
static uint64_t gil_of(struct remote *remote, uint64_t interpreter)
{
	const uint32_t version = remote->python->layout.version;
	uint64_t gil;
	int32_t locked;

	if (version < OWN_GIL_FIRST || remote->python->layout.is_free_threaded ||
	    mem_read(&remote->mem, &gil, sizeof gil,
		     interpreter + (version >> 16 == OWN_GIL_FIRST >> 16
					    ? GIL_OF_INTERPRETER_3_12
					    : GIL_OF_INTERPRETER)) < 0 ||
	    mem_read(&remote->mem, &locked, sizeof locked, gil + GIL_LOCKED) < 0)
		return 0;
	return locked >= -1 && locked <= 1 ? gil : 0;
}

static void list_interpreter(struct remote *remote, uint64_t interpreter)
{
	struct remote_python *python = remote->python;
	const struct python_offsets *offsets = &python->layout.offsets;
	const uint64_t gil = gil_of(remote, interpreter);
	uint64_t state;

	if (mem_read(&remote->mem, &state, sizeof state,
		     interpreter + offsets->interp_threads) < 0)
		return;
	while (python->count < MOST_STATES && state != 0) {
		const uint64_t pointer = pointer_of(remote, state);

		python->states = array_grow(python->states, python->count, &python->capacity,
					    sizeof *python->states);
		python->states[python->count++] = (struct state){
			.state = state,
			.interpreter = interpreter,
			.gil = gil,
			.pointer = pointer,
			.tid = thread_of(remote, state, pointer),
		};
		if (mem_read(&remote->mem, &state, sizeof state, state + offsets->state_next) <
		    0)
			return;
	}
}

void remote_python_list(struct remote *remote)
{
	struct remote_python *python = remote->python;
	uint64_t interpreter;

	python->count = 0;
	find_globals(remote, python);
	if (python->head == 0 ||
	    mem_read(&remote->mem, &interpreter, sizeof interpreter, python->head) < 0)
		return;
	for (uint32_t i = 0; i < MOST_INTERPRETERS && interpreter != 0; i++) {
		list_interpreter(remote, interpreter);
		if (mem_read(&remote->mem, &interpreter, sizeof interpreter,
			     interpreter + python->layout.offsets.interp_next) < 0)
			return;
	}
}

/* Whether the state has frames. */
static bool executes(const struct remote *remote, uint64_t state)
{
	const struct python_layout *layout = &remote->python->layout;
	struct mem *mem = (struct mem *)&remote->mem;
	struct python_walk walk;

	return python_begin(mem, layout, state, 0, &walk) >= 0 && walk.first != 0 &&
	       python_linked_begin(mem, &walk) >= 0 && walk.frame != 0;
}

/*
 * Up to 3.11 a new thread's state has the number of the thread that created it, and no frames,
 * until the new thread begins, which it may have done since states were listed.
 */
uint64_t remote_python_state(const struct remote *remote, pid_t inner_tid)
{
	const struct remote_python *python = remote->python;
	uint64_t found = 0;
	uint32_t asked = 0;

	for (size_t i = 0; i < python->count && asked < MOST_STATES_OF_A_THREAD; i++) {
		if (python->states[i].tid != inner_tid)
			continue;
		asked++;
		if (pointer_of(remote, python->states[i].state) != python->states[i].pointer)
			continue;
		found = python->states[i].state;
		if (executes(remote, found))
			return found;
	}
	return found;
}

bool remote_python_has_interpreters(const struct remote *remote)
{
	const struct remote_python *python = remote->python;

	/* States are listed by interpreter. */
	return python->count > 0 &&
	       python->states[0].interpreter != python->states[python->count - 1].interpreter;
}

bool remote_python_thread(const struct remote *remote, size_t number, pid_t *out_inner_tid,
			  uint64_t *out_state)
{
	const struct remote_python *python = remote->python;

	if (number >= python->count)
		return false;
	*out_inner_tid = python->states[number].tid;
	*out_state = python->states[number].state;
	return true;
}

size_t remote_python_thread_count(const struct remote *remote)
{
	return remote->python->count;
}

/* The state that holds this GIL (from 3.12 on) at this moment; 0: none. */
static uint64_t holder_of(struct remote *remote, uint64_t gil)
{
	uint64_t holder;
	int32_t locked;

	return mem_read(&remote->mem, &holder, sizeof holder, gil + GIL_HOLDER) >= 0 &&
			       mem_read(&remote->mem, &locked, sizeof locked,
					gil + GIL_LOCKED) >= 0 &&
			       locked == 1
		       ? holder
		       : 0;
}

/* The same up to 3.11, which have one GIL. */
static uint64_t current_state(struct remote *remote)
{
	const uint64_t current = remote->python->current;
	uint64_t holder;

	return current != 0 && mem_read(&remote->mem, &holder, sizeof holder, current) >= 0
		       ? holder
		       : 0;
}

bool remote_python_holds_gil(struct remote *remote, uint64_t state)
{
	const struct remote_python *python = remote->python;

	if (state == 0)
		return false;
	if (python->layout.version < OWN_GIL_FIRST)
		return current_state(remote) == state;
	for (size_t i = 0; i < python->count; i++) {
		const uint64_t gil = python->states[i].gil;

		if (python->states[i].state == state && gil != 0)
			return holder_of(remote, gil) == state;
	}
	return false;
}

/* The GIL (from 3.12 on) that contains the address; 0: none. */
static uint64_t gil_at(const struct remote_python *python, uint64_t address)
{
	for (size_t i = 0; i < python->count; i++) {
		const uint64_t gil = python->states[i].gil;

		if (gil != 0 && address >= gil && address < gil + GIL_SIZE)
			return gil;
	}
	return 0;
}

bool remote_python_is_gil(struct remote *remote, uint64_t address)
{
	const struct remote_python *python = remote->python;

	return gil_at(python, address) != 0 ||
	       (python->current != 0 && address < python->current &&
		python->current - address <= GIL_BEFORE_CURRENT);
}

pid_t remote_python_holder(struct remote *remote, uint64_t address)
{
	const struct remote_python *python = remote->python;
	const uint64_t gil = gil_at(python, address);
	const uint64_t state = gil != 0 ? holder_of(remote, gil) : current_state(remote);

	for (size_t i = 0; i < python->count && state != 0; i++) {
		if (python->states[i].state == state)
			return python->states[i].tid;
	}
	return state != 0 ? thread_of(remote, state, pointer_of(remote, state)) : 0;
}
