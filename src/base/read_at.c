#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

bool read_at(int fd, void *buffer, size_t len, uint64_t offset)
{
	uint8_t *at = buffer;

	if (len > INT64_MAX || offset > INT64_MAX - len)
		return false;
	while (len > 0) {
		const ssize_t got = pread(fd, at, len, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		len -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}
