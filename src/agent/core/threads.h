/*
 * threads - threads that begin, and images that go.
 */
#pragma once

/* Of the threads that were being born, none is in a child of fork. */
void threads_forget_others(void);
