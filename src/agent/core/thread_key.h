/* thread_key - pthread keys whose values may be set in a signal handler. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* glibc has the values of so many keys in struct pthread; for others it allocates (nptl). */
#define THREAD_KEYS_IN_THREAD 32

/* False: there is no such key left.  at_end: called at the end of threads that have a value. */
static inline bool thread_key_new(pthread_key_t *out_key, void (*at_end)(void *))
{
	if (pthread_key_create(out_key, at_end) != 0)
		return false;
	if (*out_key < THREAD_KEYS_IN_THREAD)
		return true;
	pthread_key_delete(*out_key);
	return false;
}
