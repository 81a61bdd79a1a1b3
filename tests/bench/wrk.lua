-- Sends the requests of a file, each once, and says as JSON what came back.  Arguments: the file; "again", if they may
-- come round when all were sent.
local requests, place, again, threads = {}, 0, false, {}
ran_out = false

function setup(thread)
   threads[#threads + 1] = thread
end

function init(args)
   local file = assert(io.open(args[1], "rb"))
   again = args[2] == "again"
   while true do
      local length = file:read("*n")
      if not length then break end
      file:read(1)
      requests[#requests + 1] = file:read(length)
   end
   file:close()
end

function request()
   if place == #requests then
      if again then place = 0 else ran_out = true; wrk.thread:stop(); return requests[place] end
   end
   place = place + 1
   return requests[place]
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '\nJSON {"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "refused": %d, "lost": %d, "ran_out": %d}\n',
      summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6,
      errors.status, errors.connect + errors.read + errors.write + errors.timeout,
      threads[1]:get("ran_out") and 1 or 0))
end
