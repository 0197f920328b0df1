#include "code_bytes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "elf_file.h"

/* The largest interpreter loop has some 75 KB. */
#define LEN_MAX (4u << 20)

bool code_bytes_read(const struct elf_file *elf, struct code_range range,
		     struct code_bytes *out_code)
{
	*out_code = (struct code_bytes){ .start = range.start,
					 .len = range.end - range.start,
					 .machine = elf->machine };
	if (range.end <= range.start || out_code->len > LEN_MAX)
		return false;
	out_code->bytes = xmalloc(out_code->len);
	return elf_file_read(elf, range.start, out_code->bytes, out_code->len);
}

void code_bytes_done(struct code_bytes *code)
{
	free(code->bytes);
}

bool code_bytes_next(const struct code_bytes *code, enum code_reference_kind kind, size_t *at,
		     uint64_t *out_target)
{
	while (*at < code->len) {
		const struct code_reference reference = machine_code_at(
			code->machine, code->bytes, code->len, (*at)++, code->start);

		*out_target = reference.target;
		if (reference.kind == kind)
			return true;
	}
	return false;
}
