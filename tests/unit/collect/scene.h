/*
 * scene - an image with a ring, and a recording to pump it into.
 */
#pragma once
#include <stdint.h>

#include "abi/ring.h"
#include "collect/samples/pump.h"

#define WORDS    4096
#define START_NS 1000000

struct error;
struct image;
struct recording_reader;
struct recording_writer;

struct scene {
	char path[64];
	struct recording_writer *writer;
	struct image *image;
	struct pump pump;
};

/* For cmocka. */
int scene_setup(void **state);
int scene_teardown(void **state);

void must(int rc, const struct error *err);
/* A record into the ring: words[0] is left out. */
void put(struct ring_header *ring, u8 type, const u64 *words, u16 count);
void put_stack(struct ring_header *ring, u64 hash, u64 inner, u64 outer);
void put_sample(struct ring_header *ring, u32 tid, u64 time_ns, u64 hash, u64 leaf);
/* Maps a file. */
void place(struct scene *scene, uint64_t start, uint64_t end, const char *path,
	   uint64_t from_ns);
unsigned int pump_all(struct scene *scene, int is_last);

/* What the recording holds, after it was closed. */
struct seen {
	uint64_t samples, weight_ns, lost;
	int64_t first_ns, last_ns; /* of their times, the least and the greatest */
	uint32_t stacks[8], endings[8];
	uint32_t parents[16], frames[16], modules[16];
	uint64_t addresses[16];
};

/* Ends the recording and reads it; another one begins. */
struct seen look(struct scene *scene);
