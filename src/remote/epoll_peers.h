/*
 * epoll_peers - what an event loop may wait for beside its clients: the peers that its program
 * connected to, by the list of descriptors that an epoll watches.
 */
#pragma once

struct remote;
struct text;

/*
 * Adds "10.0.0.7:5432", "10.0.0.7:5432, 10.0.0.8:6379" or "3 peers"; nothing if there are none,
 * or if it watches too many descriptors.  `watched` is the epoll's /proc/PID/fdinfo/FD.
 */
void epoll_peers_add(struct remote *remote, const char *watched, struct text *out);
