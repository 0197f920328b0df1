/*
 * in_child - a measurement in a child of ours, whose signals and threads are its own.
 */
#pragma once
#include <stdint.h>

/* Runs measure there and waits for it: what it returned, 0 if it cannot be run. */
uint64_t in_child(uint64_t (*measure)(const void *context), const void *context);
