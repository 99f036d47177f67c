#include "loongforge/train/task.h"

#include "loongforge/base/error.h"
#include "loongforge/train/language_task.h"

namespace loongforge {

std::vector<std::string> task_names() {
  return {"pretrain", "sft"};
}

std::unique_ptr<Task> make_task(const std::string& name) {
  for (const std::string& known : task_names()) {
    if (name == known) return std::make_unique<LanguageTask>();
  }
  throw ConfigError(concat("task: expected pretrain or sft, got ", name));
}

}  // namespace loongforge
