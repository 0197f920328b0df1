#include "agent/trace/python/callback.h"

#include <sys/types.h>

#include "abi/types.h"
#include "agent/trace/python/symbols.h"

/* Include/cpython: PyType_Spec and what stands in it, of the stable ABI. */
struct type_slot {
	int slot;
	void *value;
};
struct type_spec {
	const char *name;
	int basic_size;
	int item_size;
	unsigned int flags;
	struct type_slot *slots;
};
struct member_def {
	const char *name;
	int type;
	ssize_t offset;
	int flags;
	const char *doc;
};
#define SLOT_CALL             50
#define SLOT_MEMBERS          72
#define MEMBER_SSIZE          19
#define MEMBER_READ_ONLY      1
#define TYPE_HAS_VECTORCALL   (1U << 11)
#define OBJECT_BYTES          16U
#define OBJECT_BYTES_THREADED 32U

static struct {
	void *(*make_type)(struct type_spec *spec);      /* PyType_FromSpec() */
	void *(*make_object)(void *type, ssize_t items); /* PyType_GenericAlloc() */
	void *call;                                      /* PyVectorcall_Call() */
	u32 object_bytes;                                /* of an object's head */
} callbacks;

bool trace_callback_find_entries(bool is_free_threaded)
{
	callbacks.object_bytes = is_free_threaded ? OBJECT_BYTES_THREADED : OBJECT_BYTES;
	callbacks.call = trace_symbol("PyVectorcall_Call");
	*(void **)&callbacks.make_type = trace_symbol("PyType_FromSpec");
	*(void **)&callbacks.make_object = trace_symbol("PyType_GenericAlloc");
	return callbacks.call != NULL && callbacks.make_type != NULL &&
	       callbacks.make_object != NULL;
}

void *trace_callback_make_type(void)
{
	struct member_def members[] = {
		{ "__vectorcalloffset__", MEMBER_SSIZE, callbacks.object_bytes,
		  MEMBER_READ_ONLY, NULL },
		{ 0 },
	};
	struct type_slot slots[] = {
		{ SLOT_CALL, callbacks.call },
		{ SLOT_MEMBERS, members },
		{ 0 },
	};
	struct type_spec spec = { .name = "fathom.callback",
				  .basic_size = (int)(callbacks.object_bytes + sizeof(void *)),
				  .flags = TYPE_HAS_VECTORCALL,
				  .slots = slots };

	return callbacks.make_type(&spec);
}

void *trace_callback_make(void *type, trace_vectorcall *function)
{
	void *object = callbacks.make_object(type, 0);

	if (object != NULL)
		*(trace_vectorcall **)((char *)object + callbacks.object_bytes) = function;
	return object;
}
