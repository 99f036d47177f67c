// Samples of WebDataset shards as conversations.
#pragma once

#include <string>
#include <vector>

#include "loongforge/data/conversation.h"
#include "loongforge/data/shard_list.h"

namespace loongforge {

// The samples of all shards in their order, at most `limit` when positive. What a sample is, its content
// says:
//   a picture (jpg, jpeg, png, webp) and txt, or json {"caption"} or {"captions": [{"content"}]}: its caption
//     is what the assistant says to the picture and `caption_prompt`;
//   a picture and json {"context" or "question", "answers" or "answer"}: the first answer is trained;
//   a picture and json [{"role", "content"}...] (roles may be left out): messages;
//   json {"texts" or "messages", "tools", "media": "image" | "video" | "mix", "name": [part...]}: messages
//     with marks <image> and <video> for the named parts.
// A picture without a mark stands before the first words of the user; "fps" beside "name" is that of clips
// given as frames. Counted in `unread` are fields of the json, and parts ("*.png") of the sample, that are
// not read. Throws DataError naming shard and sample.
std::vector<Conversation> read_shards(const ShardList& list, const std::string& caption_prompt,
                                      std::int64_t limit, UnreadColumns* unread);

}  // namespace loongforge
