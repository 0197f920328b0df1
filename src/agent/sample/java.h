/*
 * java - whether HotSpot, the Java virtual machine, is in the process.
 *
 * It starts threads before it makes any code: the first call of pthread_create() from libjvm.so
 * shows it.
 */
#pragma once
#include <stdbool.h>

/* A thread is about to begin; caller is an address in the code that wants it. */
void java_look(const void *caller);
/* In handlers too.  Before glibc 2.35 it is not known which image an address is in: true. */
bool java_may_be_there(void);
