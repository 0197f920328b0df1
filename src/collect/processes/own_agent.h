/*
 * own_agent - recognises an injected agent among a process's mappings: it is mapped from a
 * memfd (abi/attach.h), and the recorder has the file of which that is a copy.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A mapping of a process.  build_id_len 0: unknown; it is read from the process's memory if the
 * mapping has the file's first page.
 */
struct own_agent_mapping {
	const char *path;
	pid_t pid;
	uint64_t start, file_offset;
	const uint8_t *build_id;
	size_t build_id_len;
};

/* Whether it is the agent in this file, and not another version's. */
bool own_agent_is(const struct own_agent_mapping *mapping, const char *agent_path);
