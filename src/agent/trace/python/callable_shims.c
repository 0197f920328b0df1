#include "agent/trace/python/callable_shims.h"

#include <stddef.h>

#include "abi/python_layout.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "agent/trace/clock.h"
#include "agent/trace/map.h"
#include "agent/trace/python/function_calls.h"
#include "agent/trace/python/objects.h"
#include "agent/trace/python/api.h"
#include "agent/trace/word.h"

#define CHUNK_BYTES 4096U

typedef void *vectorcall(void *callable, void *const *arguments, size_t count, void *names);
typedef void *tp_call(void *callable, void *arguments, void *map);

/* The number of arguments, without the flag PY_VECTORCALL_ARGUMENTS_OFFSET. */
#define COUNT_MASK  (~(1ULL << 63))
#define TUPLE_COUNT 16

/*
 * PyTypeObject, up to the last member that we set: the same from 3.11 to 3.15.  IS_READY is
 * Py_TPFLAGS_READY: the interpreter must not complete the type.
 */
struct type {
	u64 references;
	u64 type;
	u64 count;
	const char *name;
	s64 bytes, item_bytes;
	void (*dealloc)(void *object);
	s64 vectorcall_offset;
	void *getattr, *setattr, *async;
	void *(*repr)(void *object);
	void *number, *sequence, *mapping, *hash;
	tp_call *call;
	void *(*str)(void *object);
	void *(*getattro)(void *object, void *name);
	void *setattro, *buffer;
	u64 flags;
	void *more[10]; /* tp_doc to tp_getset */
	u64 base;
	void *rest[48];
};
#define HAS_VECTORCALL (1UL << 11)
#define IS_READY       (1UL << 12)

_Static_assert(offsetof(struct type, vectorcall_offset) == 56 &&
		       offsetof(struct type, call) == 128 &&
		       offsetof(struct type, flags) == 168 &&
		       offsetof(struct type, base) == 256,
	       "Include/cpython/object.h");

/* The first three words are as in objects of a type whose tp_vectorcall_offset is 16. */
struct trace_shim {
	u64 references;
	const struct type *type;
	vectorcall *by_vector; /* NULL: the callable has none */
	u64 callable;          /* we hold a reference */
	vectorcall *real;
	u64 method;
	struct trace_shim *next; /* in the thread's list of free shims */
	s32 *left;               /* trace_shims_uncount() */
};
_Static_assert(sizeof(struct trace_shim) == 64, "one line of the cache");

static struct {
	u16 vectorcall_offset; /* in a C function, and in a method descriptor */
	struct type type;
} shims;

/* --- free shims, by thread --- */

/* Puts a shim, which has one reference, on its thread's list of free ones. */
static inline void keep(struct call_stack *calls, struct trace_shim *shim)
{
	shim->next = calls->shims;
	calls->shims = shim;
}

static __attribute__((noinline)) struct trace_shim *make(struct call_stack *calls)
{
	struct trace_shim *made = trace_map(CHUNK_BYTES);

	for (size_t i = 0; made != NULL && i < CHUNK_BYTES / sizeof *made; i++) {
		made[i].references = 1;
		made[i].type = &shims.type;
		if (i > 0)
			keep(calls, &made[i]);
	}
	return made;
}

/*
 * Py_DECREF(), fast if it is not the last reference.  From 3.12 on the count is the lower half of
 * its word; an immortal object's is negative and is not changed.
 */
static inline void drop(u64 object)
{
	s32 *references = (s32 *)object;

	if (__builtin_expect(*references > 1, 1))
		--*references;
	else
		python_api.Py_DecRef((void *)object);
}

/* The caller has dropped the shim, after the call or, on an error, before it. */
static void on_dealloc(void *object)
{
	struct trace_shim *shim = object;
	const u64 callable = shim->callable;

	shim->references = 1;
	/* A child of fork that is not traced leaks the shim: these are one or two. */
	if (__builtin_expect(trace_own != NULL, 1))
		keep(trace_own, shim);
	drop(callable);
}

/* --- the call --- */

/*
 * Returns the call's method, which identifies it when it ends; 0: the call is not counted, as the
 * thread does not count, or as list.append() lacks an object, for cProfile an error and no call.
 */
static inline __attribute__((always_inline)) u64 begin(struct trace_shim *shim, u64 count)
{
	const u64 now = trace_now();
	struct call_stack *calls = trace_own;
	const u64 callable = shim->callable, method = shim->method;

	if (__builtin_expect(count == 0 && trace_word(callable, trace_objects.object_type) ==
						   trace_objects.descriptor_type,
			     0))
		return 0;
	if (__builtin_expect(calls == NULL, 0))
		return 0;
	trace_begin_builtin(calls, callable, method, (u64)shim, now);
	return method;
}

/* If the call forked, the child has another call stack, with the same calls. */
static inline __attribute__((always_inline)) void end(struct trace_shim *shim, u64 method)
{
	const u64 now = trace_now();
	struct call_stack *calls = trace_own;

	/* In a child of fork that is not traced. */
	if (__builtin_expect(calls == NULL, 0))
		return;
	if (__builtin_expect(method != 0, 1))
		trace_leave(calls, method, (u64)shim, now);
}

static void *on_vectorcall(void *object, void *const *arguments, size_t count, void *names)
{
	struct trace_shim *shim = object;
	const u64 method = begin(shim, count & COUNT_MASK);
	void *result = shim->real((void *)shim->callable, arguments, count, names);

	end(shim, method);
	return result;
}

static void *on_uncounted(void *object, void *const *arguments, size_t count, void *names)
{
	s32 *left = ((struct trace_shim *)object)->left;

	++*left;
	void *result = on_vectorcall(object, arguments, count, names);

	--*left;
	return result;
}

static void *on_call(void *object, void *arguments, void *map)
{
	struct trace_shim *shim = object;
	const struct type *type =
		(const struct type *)trace_word(shim->callable, trace_objects.object_type);

	/* A callable with vectorcall gets here only when called with a tuple. */
	if (shim->by_vector != NULL)
		return python_api.PyVectorcall_Call(object, arguments, map);
	const u64 method = begin(shim, trace_word_at((u64)arguments + TUPLE_COUNT));

	void *result = type->call((void *)shim->callable, arguments, map);

	end(shim, method);
	return result;
}

/* --- what error messages may ask of the callable --- */

static void *on_repr(void *object)
{
	return python_api.PyObject_Repr((void *)((struct trace_shim *)object)->callable);
}

static void *on_str(void *object)
{
	return python_api.PyObject_Str((void *)((struct trace_shim *)object)->callable);
}

static void *on_getattr(void *object, void *name)
{
	return python_api.PyObject_GetAttr((void *)((struct trace_shim *)object)->callable,
					   name);
}

/* --- */

static const struct type *type_at(u64 address)
{
	return (const struct type *)address;
}

/* All three types of C functions must have their vectorcall at the same offset. */
static bool find_vectorcall(void)
{
	const u64 types[] = { trace_objects.builtin_type, trace_objects.method_type,
			      trace_objects.descriptor_type };
	const s64 offset = type_at(types[0])->vectorcall_offset;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if ((type_at(types[i])->flags & HAS_VECTORCALL) == 0 ||
		    type_at(types[i])->vectorcall_offset != offset)
			return false;
	}
	shims.vectorcall_offset = (u16)offset;
	return offset > 0 && offset < 256;
}

bool trace_shims_begin(void)
{
	const struct python_layout *layout = trace_layout();
	const u64 object_type = (u64)trace_symbol("PyBaseObject_Type");

	if (layout == NULL || layout->is_free_threaded || object_type == 0 ||
	    trace_objects.builtin_type == 0 || trace_objects.descriptor_type == 0 ||
	    trace_objects.object_type != offsetof(struct type, type) || !python_api.is_whole ||
	    python_api.PyVectorcall_Call == NULL || !find_vectorcall())
		return false;
	shims.type = (struct type){
		/* No heap type, so its reference count is not used. */
		.references = 1,
		.type = layout->type_type,
		.name = "builtin_function_or_method",
		.bytes = sizeof(struct trace_shim),
		.dealloc = on_dealloc,
		.vectorcall_offset = offsetof(struct trace_shim, by_vector),
		.repr = on_repr,
		.call = on_call,
		.str = on_str,
		.getattro = on_getattr,
		.flags = HAS_VECTORCALL | IS_READY,
		.base = object_type,
	};
	return true;
}

static inline __attribute__((always_inline)) u64 dress(struct trace_shim *shim, u64 callable,
						       u64 method)
{
	vectorcall *real = *(vectorcall **)(callable + shims.vectorcall_offset);

	shim->real = real;
	shim->by_vector = real != NULL ? on_vectorcall : NULL;
	shim->callable = callable;
	shim->method = method;
	return (u64)shim;
}

static __attribute__((noinline)) u64 take_first(struct call_stack *calls, u64 callable,
						u64 method)
{
	struct trace_shim *shim = make(calls);

	if (shim != NULL)
		return dress(shim, callable, method);
	__atomic_fetch_add(&calls->area->lost_calls, 1, __ATOMIC_RELAXED);
	return 0;
}

u64 trace_shims_take(struct call_stack *calls, u64 callable, u64 method)
{
	struct trace_shim *shim = calls->shims;

	if (__builtin_expect(shim == NULL, 0))
		return take_first(calls, callable, method);
	calls->shims = shim->next;
	return dress(shim, callable, method);
}

void trace_shims_uncount(u64 shim, s32 *left)
{
	struct trace_shim *taken = (struct trace_shim *)shim;

	taken->by_vector = on_uncounted;
	taken->left = left;
}
