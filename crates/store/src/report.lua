-- The state of a queue: counts, how it is closed, the lines, the clients. ARGV: the client that asks.
local P, me = KEYS[1], ARGV[1]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local meta = call('HMGET', P .. ':meta', 'in', 'out', 'lent', 'closed')
local waits_of, lines = {}, {}
for i, line in ipairs({ ':enq', ':deq' }) do
  lines[i] = {}
  for j, attempt in ipairs(call('LRANGE', P .. line, 0, 63)) do
    local w = cmsgpack.unpack(call('HGET', P .. ':waits', attempt))
    local client = attempt:match('^[^:]*')
    waits_of[client] = (waits_of[client] or 0) + 1
    local own = client == me and '' or (call('HGET', P .. ':who', client) or client) .. ': '
    lines[i][j] = { own .. w.w, w.k, now - w.s }
  end
end
local clients = {}
for _, client in ipairs(call('ZRANGE', P .. ':clients', 0, -1)) do
  local held = 0
  for _, id in ipairs(call('LRANGE', P .. ':lent:' .. client, 0, -1)) do held = held + call('LLEN', P .. ':h:' .. client .. ':' .. id) end
  clients[#clients + 1] = { call('HGET', P .. ':who', client) or client, client == me and 1 or 0, -1, waits_of[client] or 0, held }
end
for _, gone in ipairs(call('LRANGE', P .. ':gone', 0, -1)) do
  gone = cmsgpack.unpack(gone)
  clients[#clients + 1] = { gone[1], 0, now - gone[2], 0, gone[3] }
end
return { tonumber(meta[1] or 0), tonumber(meta[2] or 0), tonumber(meta[3] or 0), meta[4] or '', lines[1], lines[2], clients }
