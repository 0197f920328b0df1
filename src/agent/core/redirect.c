#include "agent/core/redirect.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "abi/types.h"
#include "agent/core/arch.h"
#include "agent/core/images.h"
#include "agent/core/memory.h"

/* Functions with these prefixes are not redirected: an attached process keeps its own. */
static const char *const kept[] = { "exec",   "fexec",  "posix_spawn", "system",  "popen",
				    "pclose", "fclose", "fathom",      "PyInit_", "Init_" };
#define KEPT (sizeof kept / sizeof kept[0])

static bool is_kept(const char *name)
{
	for (u32 i = 0; i < KEPT; i++) {
		if (strncmp(name, kept[i], strlen(kept[i])) == 0)
			return true;
	}
	return false;
}

static u32 gnu_hash_of(const char *name)
{
	u32 hash = 5381;

	while (*name != '\0')
		hash = hash * 33 + (u8)*name++;
	return hash;
}

/* The agent's function of that name; 0: it has none, or the name is not redirected. */
static u64 function_of(const struct images_tables *own, const char *name)
{
	const u32 *table = own->gnu_hash;
	const u32 bucket_count = table[0], first = table[1], word_count = table[2];
	const u32 *buckets = table + 4 + word_count * (sizeof(ElfW(Addr)) / sizeof(u32));
	const u32 *chain = buckets + bucket_count;
	const u32 hash = gnu_hash_of(name);
	u32 at = buckets[hash % bucket_count];

	if (at < first)
		return 0;
	for (;; at++) {
		const u32 found = chain[at - first];
		const ElfW(Sym) *symbol = &own->symbols[at];

		if ((found | 1) == (hash | 1) &&
		    strcmp(own->names + symbol->st_name, name) == 0)
			return is_kept(name) || symbol->st_shndx == SHN_UNDEF
				       ? 0
				       : own->bias + symbol->st_value;
		if (found & 1)
			return 0;
	}
}

static bool is_in_fixed(const struct images_tables *image, u64 place)
{
	return place >= image->fixed && place < image->fixed_end;
}

static bool unlock(const struct images_tables *image)
{
	return arch_syscall4(SYS_mprotect, (long)image->fixed,
			     (long)(image->fixed_end - image->fixed), PROT_READ | PROT_WRITE,
			     0) == 0;
}

static void lock(const struct images_tables *image)
{
	arch_syscall4(SYS_mprotect, (long)image->fixed, (long)(image->fixed_end - image->fixed),
		      PROT_READ, 0);
}

static void redirect_image(const struct images_tables *own, const struct images_tables *image)
{
	bool is_unlocked = false;

	for (u32 kind = 0; kind < 2; kind++) {
		const ElfW(Rela) *relocation = image->relocations[kind];

		for (u64 i = 0; relocation != NULL && i < image->counts[kind];
		     i++, relocation++) {
			const u64 type = ELF64_R_TYPE(relocation->r_info);
			u64 *place = (u64 *)(image->bias + relocation->r_offset);

			if (type != ARCH_RELOCATION_OF_CALL && type != ARCH_RELOCATION_OF_DATA)
				continue;
			const ElfW(Sym) *symbol =
				&image->symbols[ELF64_R_SYM(relocation->r_info)];
			const u64 ours = function_of(own, image->names + symbol->st_name);

			if (ours == 0 || __atomic_load_n(place, __ATOMIC_RELAXED) == ours)
				continue;
			if (is_in_fixed(image, (u64)place) && !is_unlocked)
				is_unlocked = unlock(image);
			if (!is_in_fixed(image, (u64)place) || is_unlocked)
				__atomic_store_n(place, ours, __ATOMIC_RELEASE);
		}
	}
	if (is_unlocked)
		lock(image);
}

static bool holds(const struct dl_phdr_info *info, u64 address)
{
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address - start < segment->p_memsz)
			return true;
	}
	return false;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *context)
{
	struct images_tables *own = context;

	(void)size;
	return holds(info, (u64)find_own) && images_read_tables(info, own) &&
	       own->gnu_hash != NULL;
}

/* Images that keep their calls: libc and ld.so, which implement the functions, the vDSO, and us. */
static bool is_left(const struct dl_phdr_info *info)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash != NULL ? slash + 1 : info->dlpi_name;

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "ld-linux", 8) == 0 ||
	       strncmp(name, "libpthread.so", 13) == 0 ||
	       strncmp(name, "linux-vdso", 10) == 0 || holds(info, (u64)find_own);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct images_tables image;

	(void)size;
	if (!is_left(info) && images_read_tables(info, &image))
		redirect_image(context, &image);
	return 0;
}

int redirect_images(void)
{
	struct images_tables own;

	if (!dl_iterate_phdr(find_own, &own))
		return false;
	dl_iterate_phdr(look_at, &own);
	return true;
}
