#include <cstdio>

#include "loongforge/base/process.h"
#include "loongforge/cli/command.h"
#include "loongforge/models/card.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/cuda/kernels.h"

namespace loongforge::cli {

void add_version(Command app, Outcome&) {
  Command command = app.subcommand("version", "Version, libtorch, CPU level, GPU kernels and model families");
  auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print as JSON");
  command.example("loongforge version --json");
  command.action([json] {
    const std::string level = ops::cpu_level_name(ops::cpu_level());
    const std::string gpu = ops::cuda::kernels_built_for();
    const auto families = model_registry().families();
    if (*json) {
      return print_json({{"version", LOONGFORGE_VERSION},
                         {"torch", LOONGFORGE_TORCH_WHEEL},
                         {"cpu", cpu_model()},
                         {"cpu_level", level},
                         {"gpu_kernels", gpu},
                         {"families", families},
                         {"presets", preset_names()}});
    }
    std::printf("loongforge %s\ntorch %s\nCPU %s, level %s\nGPU kernels: %s\nfamilies:", LOONGFORGE_VERSION,
                LOONGFORGE_TORCH_WHEEL, cpu_model().c_str(), level.c_str(),
                gpu.empty() ? "none in this build" : gpu.c_str());
    for (const auto& family : families) std::printf(" %s", family.c_str());
    std::printf("\n");
  });
}

}  // namespace loongforge::cli
