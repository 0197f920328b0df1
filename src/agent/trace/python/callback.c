#include "agent/trace/python/callback.h"

#include <sys/types.h>

#include "abi/types.h"
#include "agent/trace/python/api.h"

/* PyType_Spec and its parts, as in the stable ABI. */
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

static u32 object_bytes; /* size of an object's head */

bool trace_callback_begin(bool is_free_threaded)
{
	object_bytes = is_free_threaded ? OBJECT_BYTES_THREADED : OBJECT_BYTES;
	return python_api.is_whole && python_api.PyVectorcall_Call != NULL;
}

void *trace_callback_make_type(void)
{
	struct member_def members[] = {
		{ "__vectorcalloffset__", MEMBER_SSIZE, object_bytes, MEMBER_READ_ONLY, NULL },
		{ 0 },
	};
	struct type_slot slots[] = {
		{ SLOT_CALL, *(void **)&python_api.PyVectorcall_Call },
		{ SLOT_MEMBERS, members },
		{ 0 },
	};
	struct type_spec spec = { .name = "fathom.callback",
				  .basic_size = (int)(object_bytes + sizeof(void *)),
				  .flags = TYPE_HAS_VECTORCALL,
				  .slots = slots };

	return python_api.PyType_FromSpec(&spec);
}

void *trace_callback_make(void *type, trace_vectorcall *function)
{
	void *object = python_api.PyType_GenericAlloc(type, 0);

	if (object != NULL)
		*(trace_vectorcall **)((char *)object + object_bytes) = function;
	return object;
}
