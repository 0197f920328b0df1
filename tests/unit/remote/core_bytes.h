/*
 * core_bytes - a small core file made by hand, for tests.
 */
#pragma once
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CORE_SIZE = 4096, CORE_NOTES = 512, CORE_DATA = 3072, CORE_DATA_SIZE = 64 };
#define CORE_STACK 0x7ffe0000ULL
#define CORE_TEXT  0x400000ULL

struct core_bytes {
	uint8_t bytes[CORE_SIZE];
	size_t notes; /* their length */
};

static inline void core_put_note(struct core_bytes *core, uint32_t type, const void *bytes,
				 uint32_t len)
{
	uint8_t *to = core->bytes + CORE_NOTES + core->notes;
	const uint32_t head[3] = { 5, len, type };

	memcpy(to, head, sizeof head);
	memcpy(to + sizeof head, "CORE\0\0\0", 8);
	memcpy(to + sizeof head + 8, bytes, len);
	core->notes += sizeof head + 8 + (len + 3) / 4 * 4;
}

static inline void core_put_thread(struct core_bytes *core, uint32_t tid, uint16_t signal,
				   uint64_t pc, uint64_t orig_rax, uint64_t rax)
{
	uint8_t status[336] = { 0 };
	uint64_t registers[27] = { 0 };

	memcpy(status + 12, &signal, sizeof signal);
	memcpy(status + 32, &tid, sizeof tid);
	for (uint64_t i = 0; i < 27; i++)
		registers[i] = 1000 + i;
	registers[10] = rax;
	registers[15] = orig_rax;
	registers[16] = pc;
	registers[19] = CORE_STACK;
	memcpy(status + 112, registers, sizeof registers);
	core_put_note(core, NT_PRSTATUS, status, sizeof status);
}

/* Two mappings of one file, of pages of 4096 bytes. */
static inline void core_put_files(struct core_bytes *core, const char *path)
{
	const uint64_t words[8] = {
		2, 4096, CORE_TEXT, CORE_TEXT + 4096, 0, CORE_TEXT + 4096, CORE_TEXT + 8192, 3
	};
	uint8_t note[sizeof words + 256];
	const size_t len = strlen(path) + 1;

	memcpy(note, words, sizeof words);
	memcpy(note + sizeof words, path, len);
	memcpy(note + sizeof words + len, path, len);
	core_put_note(core, NT_FILE, note, (uint32_t)(sizeof words + 2 * len));
}

/* The headers: notes, a page of the file that is not there, and some bytes of a stack. */
static inline void core_put_headers(struct core_bytes *core)
{
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
				  .e_type = ET_CORE,
				  .e_machine = EM_X86_64,
				  .e_phoff = sizeof(Elf64_Ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 3 };
	const Elf64_Phdr headers[3] = {
		{ .p_type = PT_NOTE, .p_offset = CORE_NOTES, .p_filesz = core->notes },
		{ .p_type = PT_LOAD,
		  .p_vaddr = CORE_STACK,
		  .p_flags = PF_R | PF_W,
		  .p_offset = CORE_DATA,
		  .p_filesz = CORE_DATA_SIZE,
		  .p_memsz = CORE_DATA_SIZE },
		{ .p_type = PT_LOAD,
		  .p_vaddr = CORE_TEXT,
		  .p_flags = PF_R | PF_X,
		  .p_offset = CORE_DATA,
		  .p_filesz = 0,
		  .p_memsz = 4096 },
	};

	memcpy(core->bytes, &head, sizeof head);
	memcpy(core->bytes + sizeof head, headers, sizeof headers);
	memset(core->bytes + CORE_DATA, 0x5a, CORE_DATA_SIZE);
}

static inline void core_put_all(struct core_bytes *core)
{
	uint32_t signal[32] = { 11, 0, 1, 0, 0x40 };
	uint8_t process[136] = { 0 };
	const uint64_t auxiliary[4] = { AT_PHDR, CORE_TEXT + 64, AT_NULL, 0 };
	const uint32_t pid = 70;

	*core = (struct core_bytes){ .notes = 0 };
	memcpy(process + 24, &pid, sizeof pid);
	memcpy(process + 40, "server", 6);
	memcpy(process + 56, "./server -v ", 12);
	core_put_thread(core, 71, 11, CORE_TEXT + 16, (uint64_t)-1, 5);
	core_put_note(core, NT_PRPSINFO, process, sizeof process);
	core_put_note(core, NT_SIGINFO, signal, sizeof signal);
	core_put_note(core, NT_AUXV, auxiliary, sizeof auxiliary);
	core_put_files(core, "/nowhere/server");
	core_put_thread(core, 70, 0, CORE_TEXT + 32, 7, (uint64_t)-516);
	core_put_headers(core);
}

/* A file with these bytes, of which path has the name; the caller closes it. */
static inline int core_write(const void *bytes, size_t len, char path[32])
{
	const int fd = memfd_create("core", MFD_CLOEXEC);
	char *at = path + strlen("/proc/self/fd/");

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		return -1;
	strcpy(path, "/proc/self/fd/");
	if (fd >= 100)
		*at++ = (char)('0' + fd / 100);
	if (fd >= 10)
		*at++ = (char)('0' + fd / 10 % 10);
	*at++ = (char)('0' + fd % 10);
	*at = '\0';
	return fd;
}
