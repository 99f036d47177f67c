// The pictures and clips of one record: where they stand among its words, and which files they are.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "loongforge/data/conversation.h"

namespace loongforge {

// Columns of a record that name pictures and clips.
inline const std::set<std::string_view> kMediaColumns = {"images", "image", "videos", "video", "fps"};

// Rewrites the contents of out.messages and fills out.media. In records with a column of files the marks
// <image> and <video> in texts are places; a content list holds parts {"type": "text" | "image" | "image_url"
// | "video"}, which name their own files or take the next one of the column. Contents with places become
// lists of {"type": "text", "text"}, {"type": "image"}, {"type": "video"}; all others a text. Counted in
// `unread` are marks in records without columns, which stay text, fields of parts that have no effect, and
// `fps` where no clip is given as frames. Throws DataError naming message or column, also for both names of a
// column, and when there are more or fewer places than files.
void take_media(const Json& record, const MediaResolver& resolve, UnreadColumns* unread, Conversation& out);

}  // namespace loongforge
