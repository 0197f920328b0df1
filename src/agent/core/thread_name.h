/*
 * thread_name - sends the recorder the names that the program gives its threads.
 */
#pragma once
#include <stdbool.h>

struct name_text;
struct ring_header;

/* Whether to look for a new name: soon after the first time, later ten times a second. */
bool thread_name_is_due(void);
/* Sends the calling thread's name to the recorder, unless it was sent before. */
void thread_name_send(struct ring_header *ring, const struct name_text *name);
