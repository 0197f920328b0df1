/*
 * pthreads - the threads of glibc, each with its thread pointer, which is its pthread_self().
 *
 * glibc keeps lists of its threads in the dynamic linker's _rtld_global (since 2.34), and
 * describes the offsets for debuggers (libthread_db's _thread_db_… in libc.so.6).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct remote;

struct pthread_place {
	pid_t tid; /* as the process's own PID namespace numbers it */
	uint64_t pointer;
};

struct pthread_places {
	struct pthread_place *places;
	size_t count, capacity;
};

/* Empty where the lists cannot be found (musl, static programs, older glibc). */
void pthreads_read(struct remote *remote, struct pthread_places *out_places);
void pthreads_done(struct pthread_places *places);
/* 0: not known. */
uint64_t pthreads_pointer_of(const struct pthread_places *places, pid_t inner_tid);
/*
 * The thread whose pthread_self() this is, by glibc's struct pthread; 0: none, as far as known.
 */
pid_t pthreads_tid_at(struct remote *remote, uint64_t pointer);
/* The thread whose struct pthread has its tid field at this address; 0: none. */
pid_t pthreads_tid_of_word(struct remote *remote, uint64_t address);
