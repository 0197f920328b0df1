#include "base/roomy_stack.h"

#include <pthread.h>
#include <stddef.h>

#define STACK_BYTES (8UL << 20)

struct call {
	int (*function)(void *context);
	void *context;
	int result;
};

static void *make_call(void *argument)
{
	struct call *call = argument;

	call->result = call->function(call->context);
	return NULL;
}

int roomy_stack_run(int (*function)(void *context), void *context)
{
	struct call call = { .function = function, .context = context };
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	const int rc = pthread_create(&thread, &attributes, make_call, &call);

	pthread_attr_destroy(&attributes);
	if (rc != 0)
		return function(context);
	pthread_join(thread, NULL);
	return call.result;
}
