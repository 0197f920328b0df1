/*
 * formats - the write functions behind the table of exporters, one file each.
 *
 * Inside export/ only; others go through export.h.
 */
#pragma once

struct error;
struct profile;
struct sink;

int write_folded(const struct profile *profile, const struct sink *sink, struct error *err);
int write_speedscope(const struct profile *profile, const struct sink *sink, struct error *err);
int write_pprof(const struct profile *profile, const struct sink *sink, struct error *err);
int write_callgrind(const struct profile *profile, const struct sink *sink, struct error *err);
int write_pstats(const struct profile *profile, const struct sink *sink, struct error *err);
int write_flamegraph(const struct profile *profile, const struct sink *sink, struct error *err);
int write_svg(const struct profile *profile, const struct sink *sink, struct error *err);
