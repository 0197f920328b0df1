#include "agent/trace/python/greenlet.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/native/native.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/methods.h"

/* greenlet.h: indexes into the table of functions. */
#define TABLE_NAME   "greenlet._C_API"
#define TABLE_TYPE   0
#define TABLE_THROW  5
#define TABLE_SWITCH 6

/* METH_VARARGS, and with METH_KEYWORDS. */
#define FLAGS_VARARGS  1
#define FLAGS_KEYWORDS 3

typedef void *three_arguments(void *greenlet, void *arguments, void *keywords);
typedef void *four_arguments(void *greenlet, void *type, void *value, void *traceback);

static struct {
	u64 images_added; /* dlpi_adds at the last look */
	bool is_loaded;   /* a library with "greenlet" in its name */
	bool is_done;
	three_arguments *method_switch, *method_throw, *table_switch;
	four_arguments *table_throw;
	/* Free stacks, linked through the entry behind the root's. */
	struct trace_entry *spare;
	u32 is_spare_taken; /* a lock: a thread is using the list */
} greenlets;

/* False if another thread uses the list: rare, as all need the GIL. */
static bool may_take(void)
{
	return __atomic_exchange_n(&greenlets.is_spare_taken, 1, __ATOMIC_ACQUIRE) == 0;
}

static void have_taken(void)
{
	__atomic_store_n(&greenlets.is_spare_taken, 0, __ATOMIC_RELEASE);
}

void trace_greenlet_forget_others(void)
{
	have_taken();
}

/* In a free stack's second entry: where the stack ends, and the next one. */
struct spare {
	struct trace_entry *limit;
	struct trace_entry *next;
};
_Static_assert(sizeof(struct spare) <= sizeof(struct trace_entry), "it fits an entry");

static bool take_stack(const struct call_stack *calls, struct trace_stack *out_stack)
{
	struct trace_entry *entries = NULL;

	if (may_take()) {
		entries = greenlets.spare;
		if (entries != NULL) {
			const struct spare *spare = (const struct spare *)(entries + 1);

			out_stack->limit = spare->limit;
			greenlets.spare = spare->next;
		}
		have_taken();
	}
	if (entries == NULL)
		return trace_make_stack(calls, out_stack);
	out_stack->entries = entries;
	trace_empty_stack(calls, out_stack);
	return true;
}

static void give_stack(const struct trace_stack *stack)
{
	struct spare *spare = (struct spare *)(stack->entries + 1);

	if (!may_take())
		return;
	*spare = (struct spare){ .limit = stack->limit, .next = greenlets.spare };
	greenlets.spare = stack->entries;
	have_taken();
}

/* The calls of a greenlet that is being switched away from; calls NULL: they stay in use. */
struct left {
	struct call_stack *calls;
	struct trace_stack stack;
};

static void leave(struct left *left)
{
	struct trace_stack next;

	left->calls = trace_of_thread();
	if (left->calls == NULL || !take_stack(left->calls, &next)) {
		left->calls = NULL;
		return;
	}
	trace_change_stack(left->calls, &next, &left->stack, trace_now());
	trace_native_leave_stack(&left->stack);
}

/*
 * Takes up the calls again.  The greenlet that switched to us has left its own calls behind, or
 * has ended: so the stack in use is empty.  If it is not, our greenlet is being killed by
 * another, which called no switch and goes on when ours has ended.
 */
static void come_back(struct left *left)
{
	struct call_stack *calls = trace_of_thread();
	struct trace_stack ended;

	if (left->calls == NULL || calls == NULL)
		return;
	trace_native_return_to_stack(&left->stack);
	if (calls == left->calls && calls->top == calls->entries) {
		trace_change_stack(calls, &left->stack, &ended, trace_now());
		give_stack(&ended);
		return;
	}
	/* Enter our calls again, below those; or in a child of fork, in its own tree. */
	trace_stand_again(calls, left->stack.entries + 1,
			  (u32)(left->stack.top - left->stack.entries));
	give_stack(&left->stack);
}

static void *switch_by(three_arguments *function, void *greenlet, void *arguments,
		       void *keywords)
{
	struct left left;

	leave(&left);
	void *result = function(greenlet, arguments, keywords);

	come_back(&left);
	return result;
}

static void *on_method_switch(void *greenlet, void *arguments, void *keywords)
{
	return switch_by(greenlets.method_switch, greenlet, arguments, keywords);
}

/* The method takes two arguments, and ignores the third. */
static void *on_method_throw(void *greenlet, void *arguments, void *unused)
{
	return switch_by(greenlets.method_throw, greenlet, arguments, unused);
}

static void *on_table_switch(void *greenlet, void *arguments, void *keywords)
{
	return switch_by(greenlets.table_switch, greenlet, arguments, keywords);
}

static void *on_table_throw(void *greenlet, void *type, void *value, void *traceback)
{
	struct left left;

	leave(&left);
	void *result = greenlets.table_throw(greenlet, type, value, traceback);

	come_back(&left);
	return result;
}

static bool replace(void **place, void *ours, void *out_theirs)
{
	*(void **)out_theirs = *place;
	return trace_put_word(place, ours);
}

static bool replace_method(u64 type, const char *name, int flags, void *ours, void *out_theirs)
{
	struct trace_method *method = trace_methods_of_type(trace_layout(), type);

	for (u32 i = 0; method != NULL && i < TRACE_METHODS_MAX && method->name != NULL;
	     i++, method++) {
		if (strcmp(method->name, name) == 0)
			return method->flags == flags &&
			       replace((void **)&method->function, ours, out_theirs);
	}
	return false;
}

static void interpose_all(void **table)
{
	const u64 type = (u64)table[TABLE_TYPE];
	three_arguments *const three[] = { on_method_switch, on_method_throw, on_table_switch };
	four_arguments *const four = on_table_throw;

	bool has_all = true;

	has_all &= replace_method(type, "switch", FLAGS_KEYWORDS, *(void *const *)&three[0],
				  &greenlets.method_switch);
	has_all &= replace_method(type, "throw", FLAGS_VARARGS, *(void *const *)&three[1],
				  &greenlets.method_throw);
	has_all &= replace(&table[TABLE_SWITCH], *(void *const *)&three[2],
			   &greenlets.table_switch);
	has_all &= replace(&table[TABLE_THROW], *(void *const *)&four, &greenlets.table_throw);
	if (!has_all)
		trace_native_see_no_ends();
}

/* The module's table of functions; NULL: the module is not set up yet. */
static void **find_table(void)
{
	/* Since 1.0 it is a module in a package. */
	static const char *const names[] = { "greenlet._greenlet", "greenlet" };
	void *modules = python_api.PySys_GetObject("modules");
	void **table = NULL;

	for (u32 i = 0; modules != NULL && table == NULL && i < 2; i++) {
		void *module = python_api.PyDict_GetItemString(modules, names[i]);
		void *capsule = module != NULL
					? python_api.PyObject_GetAttrString(module, "_C_API")
					: NULL;

		python_api.PyErr_Clear();
		if (capsule == NULL)
			continue;
		/* The capsule had this name before 1.0, too. */
		if (python_api.PyCapsule_IsValid(capsule, TABLE_NAME))
			table = python_api.PyCapsule_GetPointer(capsule, TABLE_NAME);
		python_api.Py_DecRef(capsule);
	}
	return table;
}

/* Stops at the first image if none was added; else notes whether one is greenlet's. */
static int look_at_image(struct dl_phdr_info *info, size_t size, void *found)
{
	(void)size;
	if (info->dlpi_adds == greenlets.images_added)
		return 1;
	if (strstr(info->dlpi_name, "greenlet") != NULL)
		greenlets.is_loaded = true;
	*(u64 *)found = info->dlpi_adds;
	return 0;
}

void trace_greenlet_look(void)
{
	u64 added = greenlets.images_added;

	if (greenlets.is_done)
		return;
	dl_iterate_phdr(look_at_image, &added);
	greenlets.images_added = added;
	if (!greenlets.is_loaded || !python_api.is_whole || python_api.PyErr_Occurred() != NULL)
		return;
	void **table = find_table();

	if (table != NULL) {
		greenlets.is_done = true;
		interpose_all(table);
	}
}
