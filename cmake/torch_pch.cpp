// Carries the shared precompiled header of the torch floors.
