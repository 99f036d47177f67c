#include "loongforge/base/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

volatile std::sig_atomic_t signals = 0;

extern "C" void on_signal(int) {
  if (signals != 0) _exit(130);
  signals = 1;
  static constexpr char kText[] = "\nstopping at the next safe point; press Ctrl-C again to leave at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() {
  return signals != 0;
}

void throw_if_interrupted() {
  if (interrupt_requested()) throw Interrupted("interrupted");
}

}  // namespace loongforge
