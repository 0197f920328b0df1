#include "remote/wait_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "base/text.h"
#include "remote/process.h"

/* The kernel limits a struct sockaddr to 128 bytes; IPv4 and IPv6 need only this much. */
static void add_inet_address(struct remote *remote, uint64_t at, uint64_t len, struct text *out)
{
	struct sockaddr_in6 address = { 0 };
	char text[INET6_ADDRSTRLEN];

	if (len > sizeof address)
		len = sizeof address;
	if (mem_read(&remote->mem, &address, (uint32_t)len, at) < 0)
		return;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address;

	if (address.sin6_family == AF_INET && len >= sizeof *four &&
	    inet_ntop(AF_INET, &four->sin_addr, text, sizeof text))
		text_addf(out, "%s:%u", text, (unsigned)ntohs(four->sin_port));
	else if (address.sin6_family == AF_INET6 && len == sizeof address &&
		 inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text))
		text_addf(out, "[%s]:%u", text, (unsigned)ntohs(address.sin6_port));
}

/* "/run/app.sock", "@abstract". */
static void add_unix_address(struct remote *remote, uint64_t at, uint64_t len, struct text *out)
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	struct sockaddr_un address = { 0 };

	if (len <= head || len > sizeof address ||
	    mem_read(&remote->mem, &address, (uint32_t)len, at) < 0 ||
	    address.sun_family != AF_UNIX)
		return;
	if (address.sun_path[0] == '\0') {
		text_add(out, "@");
		text_add_printable(out, address.sun_path + 1, len - head - 1);
	} else {
		text_add_printable(out, address.sun_path,
				   strnlen(address.sun_path, len - head));
	}
}

void wait_address_add(struct remote *remote, uint64_t at, uint64_t len, struct text *out)
{
	add_inet_address(remote, at, len, out);
	add_unix_address(remote, at, len, out);
}
