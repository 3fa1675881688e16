--[[
  Applies a list of transitions of calls, see apply-transitions.lua for KEYS, ARGV, the return value and its codes. Loaded
  twice, with other flags: `accept` is refused above maxmemory, `progress` is allowed above it, so that a running call can
  always finish.
]]
--- @include "apply-transitions"
return applyTransitions(KEYS, ARGV)
