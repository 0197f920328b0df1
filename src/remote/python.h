/*
 * python - the CPython interpreter of a process: its threads' states, and which holds the GIL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/python_layout.h"

struct remote;
struct remote_image;
struct remote_python;

/* Looks for an interpreter in an image; true if it is one that can be walked. */
bool remote_python_find(struct remote *remote, const struct remote_image *image,
			const char *path);
void remote_python_free(struct remote_python *python);
const struct python_layout *remote_python_layout(const struct remote_python *python);
/* "3.11.2" */
const char *remote_python_version(const struct remote_python *python);

/* Lists the thread states that exist now. */
void remote_python_list(struct remote *remote);
/*
 * The state of the thread with this number in the process's own PID namespace; 0: it has none.
 * If it has several (sub-interpreters), one that executes something.
 */
uint64_t remote_python_state(const struct remote *remote, pid_t inner_tid);
/* Whether states of more than one interpreter are listed. */
bool remote_python_has_interpreters(const struct remote *remote);
/* The listed state of this index; false: there are fewer. */
bool remote_python_thread(const struct remote *remote, size_t number, pid_t *out_inner_tid,
			  uint64_t *out_state);
size_t remote_python_thread_count(const struct remote *remote);
/* Whether the thread with this state holds its interpreter's GIL at this moment. */
bool remote_python_holds_gil(struct remote *remote, uint64_t state);
/* Whether the address lies in an interpreter's GIL: a futex there is a wait for the GIL. */
bool remote_python_is_gil(struct remote *remote, uint64_t address);
/*
 * The thread that holds the GIL containing the address, at this moment, as its own PID
 * namespace numbers it; 0: none, or unknown.
 */
pid_t remote_python_holder(struct remote *remote, uint64_t address);
