#include "loongforge/models/vlm/assemble.h"

#include "loongforge/models/vlm/splice.h"

namespace loongforge {

ModelParts assemble(VisionPart vision, std::unique_ptr<Segment> projector, LanguagePart language,
                    const VisualInfo& visual) {
  ModelParts parts;
  parts.info = language.info;
  parts.info.visual = visual;
  parts.segments = std::move(vision.segments);
  parts.segments.push_back(std::move(projector));
  language.segments.front() = splice_into(std::move(language.segments.front()), visual);
  for (auto& segment : language.segments) parts.segments.push_back(std::move(segment));
  parts.embedding = language.embedding;
  parts.head = language.head;
  return parts;
}

}  // namespace loongforge
