import { Script } from "../script.ts";

/**
 * Judges and applies a batch. Its operations are texts in a row: first all checks, then all changes, so that nothing is written
 * before all is judged. A server whose memory is full refuses the first command that needs some, before anything is written.
 *
 * Keys: the lineage, the entries, the log, the tokens; then the directory and its locks, or the decisions about batches of two
 * shards. Arguments: a token, the time of the lock of a batch of two shards, the thread of the directory entry, the operations.
 *
 * Answers 1 for applied (now, or before under this token), 0 for refused, and the lock that is in the way with the server's time.
 */
export const applyScript: Script = new Script(`
local lineage, token, locked, thread = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
if locked ~= '' then
  local decided = redis.call('HGET', KEYS[5], token)
  if decided then
    redis.call('HSET', KEYS[5], token, decided)
    return string.sub(decided, 1, 1) == 'c' and 1 or 0
  end
  if now() - tonumber(locked) > 60000 then return 0 end
elseif token ~= '' and redis.call('ZSCORE', KEYS[4], token) then
  redis.call('ZADD', KEYS[4], now(), token)
  return 1
end
if thread ~= '' and locked == '' then
  local held = redis.call('HGET', KEYS[6], thread)
  if held then return { held, string.format('%.0f', now()) } end
end
local i, count, last = 4, #ARGV, nil
while i <= count do
  local operation, first = ARGV[i], ARGV[i + 1]
  if operation == 'c' then
    if not redis.call('ZSCORE', lineage, first) then return 0 end
    i = i + 2
  elseif operation == 'n' then
    if redis.call('ZLEXCOUNT', lineage, '[' .. first, '(' .. first .. '\\255') > 0 then return 0 end
    i = i + 2
  elseif operation == 'a' then
    redis.call('ZADD', lineage, 0, first)
    i = i + 2
  elseif operation == 'p' then
    redis.call('ZREMRANGEBYLEX', lineage, '[' .. first, '(' .. first .. '\\255')
    redis.call('ZADD', lineage, 0, ARGV[i + 2])
    i = i + 3
  elseif operation == 'r' then
    redis.call('ZREMRANGEBYLEX', lineage, '[' .. first, '(' .. ARGV[i + 2])
    i = i + 3
  elseif operation == '-' then
    redis.call('ZREM', KEYS[2], first)
    i = i + 2
  elseif operation == '+' then
    redis.call('ZADD', KEYS[2], 0, first)
    i = i + 2
  elseif operation == 'g' then
    if not last then
      local newest = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
      last = newest and tonumber(string.match(newest[1], '^%d+')) or 0
    end
    last = last + 1
    local time = redis.call('TIME')
    redis.call('XADD', KEYS[3], string.format('%.0f-0', last), first, ARGV[i + 2], 'u', time[1] .. string.format('%06d', time[2]))
    if last % 1024 == 0 then redis.call('XTRIM', KEYS[3], 'MAXLEN', ARGV[i + 3]) end
    i = i + 4
  elseif operation == 'C' then
    if not redis.call('ZSCORE', KEYS[5], first) then return 0 end
    i = i + 2
  elseif operation == 'N' then
    if redis.call('ZLEXCOUNT', KEYS[5], '[' .. first, '(' .. first .. '\\255') > 0 then return 0 end
    i = i + 2
  elseif operation == 'P' then
    redis.call('ZREMRANGEBYLEX', KEYS[5], '[' .. first, '(' .. first .. '\\255')
    redis.call('ZADD', KEYS[5], 0, ARGV[i + 2])
    i = i + 3
  elseif operation == 'R' then
    redis.call('ZREMRANGEBYLEX', KEYS[5], '[' .. first, '(' .. first .. '\\255')
    i = i + 2
  else
    return redis.error_reply('ERR unknown operation ' .. operation)
  end
end
if locked ~= '' then
  redis.call('HSET', KEYS[5], token, 'c' .. string.format('%.0f', now()) .. ' ' .. thread)
elseif token ~= '' then
  local time = now()
  redis.call('ZADD', KEYS[4], time, token)
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', time - 600000)
end
return 1
`);
