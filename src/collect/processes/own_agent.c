#include "collect/processes/own_agent.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attach.h"
#include "attach/peek.h"
#include "base/memory.h"
#include "target/build_id.h"

/* Enough for the ELF headers and notes. */
#define HEAD_BYTES 4096

static size_t read_build_id(pid_t pid, uint64_t start, uint8_t out_id[ELF_BUILD_ID_MAX])
{
	CLEANUP(closep) int fd = memfd_create("fathom-head", MFD_CLOEXEC);
	uint8_t head[HEAD_BYTES];

	if (fd < 0 || peek(pid, start, head, sizeof head) < 0 ||
	    write(fd, head, sizeof head) != (ssize_t)sizeof head)
		return 0;
	return elf_build_id_read_fd(fd, out_id);
}

bool own_agent_is(const struct own_agent_mapping *mapping, const char *agent_path)
{
	uint8_t theirs[ELF_BUILD_ID_MAX], ours[ELF_BUILD_ID_MAX];
	size_t len = mapping->build_id_len;

	if (agent_path == NULL || strcmp(mapping->path, ATTACH_MEMORY) != 0 ||
	    len > sizeof theirs)
		return false;
	if (len > 0)
		memcpy(theirs, mapping->build_id, len);
	else if (mapping->file_offset == 0)
		len = read_build_id(mapping->pid, mapping->start, theirs);
	return len > 0 && elf_build_id_read(agent_path, ours) == len &&
	       memcmp(theirs, ours, len) == 0;
}
