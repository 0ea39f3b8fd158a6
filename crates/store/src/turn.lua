-- One turn of a client at a queue: all that it has to say, then all answers that are ready for it.
--
-- Keys, all beginning with KEYS[1]:
--   :meta    what the queue is: spec, kind, cap, min, tok (the most tokens of a batch), in, out, lent (dequeues that are
--            neither used nor back), seed, head, closed (how, as the client wrote it)
--   :items   the items: a list; a sorted set (priority); a hash by position (shuffled)
--   :enq :deq   the lines of attempts, each named `client:id`
--   :waits   what the attempts in line still need
--   :r:ATTEMPT  the rows that an enqueue in line still has to add
--   :h:ATTEMPT  the items that a dequeue has taken: in line, or lent until they are used
--   :lent:CLIENT   the numbers of the dequeues whose items are lent
--   :out:CLIENT    answers that the client has not confirmed
--   :turn:CLIENT   the number of its last turn
--   :clients the clients by the time at which their lease ends; :who their names; :gone the last that were lost
--
-- ARGV: client, lease in ms, number of the turn, number of answers to forget, then commands.
-- A turn that was made before is not made again: only its answers are repeated.
local P, me, lease, turn, forget = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local META, ITEMS, ENQ, DEQ, WAITS, CLIENTS = P .. ':meta', P .. ':items', P .. ':enq', P .. ':deq', P .. ':waits', P .. ':clients'
local CHUNK = 1000

-- The first command of a client opens the queue: O, spec, kind, cap, min, tok, seed, name of the client.
local at = 5
if ARGV[at] == 'O' then
  local spec = call('HGET', META, 'spec')
  if not spec then
    call('HSET', META, 'spec', ARGV[at + 1], 'kind', ARGV[at + 2], 'cap', ARGV[at + 3], 'min', ARGV[at + 4], 'tok', ARGV[at + 5],
      'seed', ARGV[at + 6], 'in', 0, 'out', 0, 'lent', 0, 'head', 0)
  elseif spec ~= ARGV[at + 1] then
    return { 'other', spec }
  end
  call('HSET', P .. ':who', me, ARGV[at + 7])
  at = at + 8
elseif ARGV[at] == 'N' and call('EXISTS', META) == 1 then -- N, name of the client, which has come back.
  call('HSET', P .. ':who', me, ARGV[at + 1])
  at = at + 2
end

local f = call('HMGET', META, 'kind', 'cap', 'min', 'tok', 'in', 'out', 'lent', 'seed', 'head', 'closed')
local kind, cap, min, tok = f[1], tonumber(f[2]), tonumber(f[3]), tonumber(f[4])
local n_in, n_out, lent, seed, head, closed = tonumber(f[5]), tonumber(f[6]), tonumber(f[7]), tonumber(f[8]), tonumber(f[9]), f[10]
if not kind then return { 'missing' } end
local len = n_in - n_out
local n_enq, n_deq = call('LLEN', ENQ), call('LLEN', DEQ)
local answers, told, fresh = {}, {}, {}

local function in_chunks(from, to, work)
  while from <= to do
    local last = math.min(to, from + CHUNK - 1)
    work(from, last)
    from = last + 1
  end
end

local function append(key, rows, from, to)
  in_chunks(from, to, function(i, j) call('RPUSH', key, unpack(rows, i, j)) end)
end

-- A priority's item is its key in the order, 8 bytes, then its content; in the sorted set its rank is in between.
local function ranked(row, rank) return row:sub(1, 8) .. string.format('%014x', 4503599627370496 + rank) .. row:sub(9) end

local function push(rows, from, to)
  if kind == 'priority' then
    for i = from, to do
      call('ZADD', ITEMS, 0, ranked(rows[i], n_in))
      n_in = n_in + 1
    end
  elseif kind == 'shuffle' then
    for i = from, to do
      call('HSET', ITEMS, n_in - n_out + 1, rows[i])
      n_in = n_in + 1
    end
  else
    append(ITEMS, rows, from, to)
    n_in = n_in + to - from + 1
  end
  len = n_in - n_out
end

local function pop(n)
  if n == 0 then return {} end
  local rows = {}
  if kind == 'priority' then
    local got = call('ZPOPMIN', ITEMS, n)
    for i = 1, #got, 2 do rows[#rows + 1] = got[i]:sub(1, 8) .. got[i]:sub(23) end
  elseif kind == 'shuffle' then
    for i = 1, n do
      local last = len - i + 1
      seed = seed * 48271 % 2147483647
      local pick = seed % last + 1
      rows[i] = call('HGET', ITEMS, pick)
      if pick ~= last then call('HSET', ITEMS, pick, call('HGET', ITEMS, last)) end
      call('HDEL', ITEMS, last)
    end
  else
    rows = call('LRANGE', ITEMS, 0, n - 1)
    call('LTRIM', ITEMS, n, -1)
  end
  n_out = n_out + n
  len = n_in - n_out
  return rows
end

-- Items return to their places. Those taken last come first.
local function give_back(rows)
  for i = #rows, 1, -1 do
    if kind == 'priority' then
      head = head - 1
      call('ZADD', ITEMS, 0, ranked(rows[i], head))
    elseif kind == 'shuffle' then
      call('HSET', ITEMS, n_in - n_out + 1, rows[i])
    else
      call('LPUSH', ITEMS, rows[i])
    end
    n_out = n_out - 1
  end
  len = n_in - n_out
end

local function take_held(attempt)
  local key = P .. ':h:' .. attempt
  local rows = call('LRANGE', key, 0, -1)
  call('DEL', key)
  return rows
end

local function parts(attempt)
  local colon = attempt:find(':', 1, true)
  return attempt:sub(1, colon - 1), attempt:sub(colon + 1)
end

local function tell(client, answer)
  if client == me then
    answers[#answers + 1] = answer
  else
    call('RPUSH', P .. ':out:' .. client, answer)
    told[client] = true
  end
end

local function info(attempt) return cmsgpack.unpack(call('HGET', WAITS, attempt)) end
local function save(attempt, w) call('HSET', WAITS, attempt, cmsgpack.pack(w)) end

local function leave(line, attempt)
  call('LREM', line, 1, attempt)
  call('HDEL', WAITS, attempt)
  if line == ENQ then n_enq = n_enq - 1 else n_deq = n_deq - 1 end
end

-- Lends the items that a dequeue has taken. `rows` are all of them if it took them in this turn.
local function lend(attempt, rows)
  local client, id = parts(attempt)
  lent = lent + 1
  call('RPUSH', P .. ':lent:' .. client, id)
  tell(client, 'I ' .. id)
  if rows and client == me then fresh[id] = rows end
end

local function take(attempt, w, n)
  if n == 0 then return nil end
  local rows = pop(n)
  append(P .. ':h:' .. attempt, rows, 1, n)
  local whole = w.t == 0 and rows or nil
  w.t = w.t + n
  return whole
end

local function serve_enqueue()
  local attempt = call('LINDEX', ENQ, 0)
  local w = info(attempt)
  local client, id = parts(attempt)
  if w.k == 'C' then
    leave(ENQ, attempt)
    if closed then
      tell(client, 'Y ' .. id)
    else
      closed = w.c
      call('HSET', META, 'closed', closed)
      tell(client, 'K ' .. id)
    end
    return true
  end
  local key = P .. ':r:' .. attempt
  if closed then
    leave(ENQ, attempt)
    call('DEL', key)
    tell(client, 'S ' .. id)
    return true
  end
  local n = math.max(0, math.min(cap - len, w.n - w.t))
  if n > 0 then
    push(call('LRANGE', key, 0, n - 1), 1, n)
    call('LTRIM', key, n, -1)
    w.t = w.t + n
  end
  if w.t == w.n then
    leave(ENQ, attempt)
    tell(client, 'K ' .. id)
    return true
  end
  if n > 0 then save(attempt, w) end
  return n > 0
end

local function available() return closed and len or math.max(0, len - min) end

-- Serves a dequeue as far as possible. Returns whether it is over, and whether anything moved.
local function serve(attempt, w)
  local moved = false
  if tok > 0 then
    while w.t < w.n and len > 0 do
      local tokens = math.max(struct.unpack('>I4', call('LINDEX', ITEMS, 0)), w.g)
      if w.t > 0 and tokens * (w.t + 1) > tok then
        lend(attempt)
        return true, true
      end
      w.g = tokens
      take(attempt, w, 1)
      moved = true
    end
  end
  local there, missing = available(), w.n - w.t
  if missing <= there then
    lend(attempt, take(attempt, w, missing))
    return true, true
  end
  if closed then
    if w.u and w.t + there > 0 then
      lend(attempt, take(attempt, w, there))
      return true, true
    end
    if lent > 0 then return false, moved end
    give_back(take_held(attempt))
    local client, id = parts(attempt)
    tell(client, 'T ' .. id .. ' ' .. missing .. ' ' .. there)
    return true, true
  end
  -- A sorted batch is taken in one go.
  if kind == 'priority' then return false, moved end
  take(attempt, w, there)
  return false, moved or there > 0
end

local function serve_dequeue()
  local attempt = call('LINDEX', DEQ, 0)
  local w = info(attempt)
  local over, moved = serve(attempt, w)
  if over then leave(DEQ, attempt) elseif moved then save(attempt, w) end
  return moved
end

local function serve_lines()
  local moved = n_enq + n_deq > 0
  while moved do
    moved = false
    if n_enq > 0 then moved = serve_enqueue() end
    if n_deq > 0 then moved = serve_dequeue() or moved end
  end
end

-- Nobody waits for the attempt: it leaves its line, or what it was lent returns.
local function withdraw(client, id)
  local attempt = client .. ':' .. id
  local w = call('HGET', WAITS, attempt)
  if w then
    w = cmsgpack.unpack(w)
    if w.k == 'D' then
      leave(DEQ, attempt)
      give_back(take_held(attempt))
    else
      leave(ENQ, attempt)
      call('DEL', P .. ':r:' .. attempt)
    end
    return w
  end
  if call('LREM', P .. ':lent:' .. client, 1, id) > 0 then
    lent = lent - 1
    give_back(take_held(attempt))
  end
end

-- A client is gone, or leaves: nothing of it remains but, for some time, what it would need if it came back.
local function bid_farewell(client, is_lost)
  local before = n_out
  for _, line in ipairs({ DEQ, ENQ }) do
    for _, attempt in ipairs(call('LRANGE', line, 0, -1)) do
      local whose, id = parts(attempt)
      if whose == client then
        local w = withdraw(client, id)
        if is_lost then tell(client, 'G ' .. id .. ' ' .. (w.k == 'E' and w.t or 0)) end
      end
    end
  end
  local ids = call('LRANGE', P .. ':lent:' .. client, 0, -1)
  for i = #ids, 1, -1 do withdraw(client, ids[i]) end
  call('ZREM', CLIENTS, client)
  if is_lost then
    call('LPUSH', P .. ':gone', cmsgpack.pack({ call('HGET', P .. ':who', client) or client, now, before - n_out }))
    call('LTRIM', P .. ':gone', 0, 7)
    call('PEXPIRE', P .. ':turn:' .. client, 3600000)
    call('PEXPIRE', P .. ':out:' .. client, 3600000)
  else
    call('DEL', P .. ':turn:' .. client, P .. ':out:' .. client)
  end
  call('HDEL', P .. ':who', client)
end

if call('ZADD', CLIENTS, now + lease, me) == 1 then call('PERSIST', P .. ':out:' .. me) end
for _, client in ipairs(call('ZRANGEBYSCORE', CLIENTS, '-inf', now)) do bid_farewell(client, true) end

local OUT, TURN = P .. ':out:' .. me, P .. ':turn:' .. me
local last = tonumber(call('GET', TURN) or 0)
local stays = true
if last < turn then
  call('SET', TURN, turn)
  if forget > 0 then call('LTRIM', OUT, forget, -1) end
  while at <= #ARGV do
    local op, id = ARGV[at], ARGV[at + 1]
    local attempt = me .. ':' .. id
    if op == 'E' then -- E, id, who, n, rows
      local n, first = tonumber(ARGV[at + 3]), at + 4
      local done = 0
      if n_enq == 0 and not closed then
        done = math.max(0, math.min(cap - len, n))
        push(ARGV, first, first + done - 1)
      end
      if done == n then
        tell(me, 'K ' .. id)
      elseif closed and n_enq == 0 then
        tell(me, 'S ' .. id)
      else
        append(P .. ':r:' .. attempt, ARGV, first + done, first + n - 1)
        save(attempt, { k = 'E', n = n, t = done, w = ARGV[at + 2], s = now })
        call('RPUSH', ENQ, attempt)
        n_enq = n_enq + 1
      end
      at = first + n
    elseif op == 'D' then -- D, id, who, n, whether fewer will do
      local w = { k = 'D', n = tonumber(ARGV[at + 3]), u = ARGV[at + 4] == '1', t = 0, g = 0, w = ARGV[at + 2], s = now }
      if n_deq > 0 or not serve(attempt, w) then
        save(attempt, w)
        call('RPUSH', DEQ, attempt)
        n_deq = n_deq + 1
      end
      at = at + 5
    elseif op == 'C' then -- C, id, who, whether it cancels, how it closes
      if ARGV[at + 3] == '1' then
        if not closed then
          closed = ARGV[at + 4]
          call('HSET', META, 'closed', closed)
        end
        for _, other in ipairs(call('LRANGE', ENQ, 0, -1)) do
          local client, number = parts(other)
          local w = withdraw(client, number)
          tell(client, (w.k == 'C' and 'Y ' or 'Q ') .. number)
        end
        tell(me, 'K ' .. id)
      else
        save(attempt, { k = 'C', c = ARGV[at + 4], w = ARGV[at + 2], s = now })
        call('RPUSH', ENQ, attempt)
        n_enq = n_enq + 1
      end
      at = at + 5
    elseif op == 'L' then -- L, id
      tell(me, 'L ' .. id .. ' ' .. len .. ' ' .. (closed and 1 or 0))
      at = at + 2
    elseif op == 'A' then -- A, id: the items are used
      if call('LREM', P .. ':lent:' .. me, 1, id) > 0 then
        call('DEL', P .. ':h:' .. attempt)
        lent = lent - 1
      end
      at = at + 2
    elseif op == 'X' then -- X, id: nobody waits for the attempt, or its items are not used
      withdraw(me, id)
      at = at + 2
    else -- B, 0: the client leaves
      bid_farewell(me, false)
      stays = false
      at = at + 2
    end
    serve_lines()
  end
end
serve_lines()

-- A client is a process and a number of its own; the process listens.
for client in pairs(told) do call('PUBLISH', 'ms:wake:' .. client:match('^[^-]*'), P) end

-- A queue that is closed and empty, and that nobody uses, is forgotten.
if not stays and closed and len == 0 and lent == 0 and call('ZCARD', CLIENTS) == 0 then
  call('DEL', META, ITEMS, ENQ, DEQ, WAITS, CLIENTS, P .. ':who', P .. ':gone')
  return { 'ok' }
end
call('HSET', META, 'in', n_in, 'out', n_out, 'lent', lent, 'seed', seed, 'head', head)

-- A queue that is closed and empty stays so. It ends with the last of its clients' leases, which each turn moves, so it also
-- ends if all of them are killed. Nobody waits in its lines, and nobody has items of it: only these keys are left.
local ended = closed and len == 0 and lent == 0
if ended then
  local last = call('ZRANGE', CLIENTS, -1, -1, 'WITHSCORES')[2]
  for _, key in ipairs({ META, CLIENTS, P .. ':who', P .. ':gone' }) do call('PEXPIREAT', key, last) end
end
if not stays then return { 'ok' } end

local reply = call('LRANGE', OUT, 0, -1)
in_chunks(1, #answers, function(i, j) call('RPUSH', OUT, unpack(answers, i, j)) end)
for i = 1, #answers do reply[#reply + 1] = answers[i] end
for i = 1, #reply do
  if reply[i]:sub(1, 1) == 'I' then
    local id = reply[i]:sub(3)
    local rows = fresh[id] or call('LRANGE', P .. ':h:' .. me .. ':' .. id, 0, -1)
    -- Items that went to others meanwhile.
    reply[i] = #rows > 0 and { 'I ' .. id, rows } or { 'G ' .. id .. ' 0' }
  else
    reply[i] = { reply[i] }
  end
end
if ended then
  for _, key in ipairs({ OUT, TURN }) do call('PEXPIRE', key, 3600000) end
end
return { 'ok', closed or '', reply, ended and 1 or 0 }
