// Ctrl-C: the first asks for a stop at the next safe point, the second leaves at once with exit code 130.
#pragma once

namespace loongforge {

// Installs the handler for SIGINT and SIGTERM.
void install_interrupt_handler();
// True after the first signal.
bool interrupt_requested();
// Throws Interrupted after the first signal.
void throw_if_interrupted();

}  // namespace loongforge
