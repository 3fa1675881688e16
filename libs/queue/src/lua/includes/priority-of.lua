--[[
  The score of a waiting job is priority * PRIORITY_SPAN + place, as in BullMQ. The lower priority number runs first.
]]
local PRIORITY_SPAN = 0x100000000

local function priorityOf(score) return math.floor(score / PRIORITY_SPAN) end
