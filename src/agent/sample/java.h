/*
 * java - detects HotSpot, the Java virtual machine, in the process.
 *
 * HotSpot starts threads before it makes any code: pthread_create() from libjvm.so shows it.
 */
#pragma once
#include <stdbool.h>

/* A thread is about to be created; caller: an address in the code that creates it. */
void java_look(const void *caller);
/* Callable in handlers.  True before glibc 2.35, where the image of an address is not known. */
bool java_may_be_there(void);
