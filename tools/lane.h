/* SPDX-License-Identifier: Apache-2.0 */
/* Where a lane stands in its chunk, and where it stops. */
#ifndef TOOLS_LANE_H
#define TOOLS_LANE_H

#include "stream.h"

static inline uint32_t
lane_offset(const struct stream_lane *l)
{
	return l->window_at + (uint32_t)(l->at.at - l->window);
}

static inline bool
lane_is_at_end(const struct stream_lane *l)
{
	return lane_offset(l) >= l->end || lane_offset(l) >= l->room;
}

static inline struct stream_place
lane_place(const struct stream_lane *l)
{
	return (struct stream_place){ l->seq, lane_offset(l) };
}

/* Of the events in its chunk, and where the last of them begins at most. */
static inline void
lane_set_end(struct stream_lane *l)
{
	const struct reader_chunk *c = l->chunk;

	l->room = c->bytes - (c->whole ? sizeof(struct log_trailer) : 0);
	l->end = c->seq == l->limit.seq ? l->limit.offset : UINT32_MAX;
}

#endif
