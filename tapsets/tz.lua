-- SPDX-License-Identifier: Apache-2.0
-- The local time zone as djtap has it when the session begins, by SystemTap's names.

local west, name = dj.timezone()

dj.define("// Seconds west of UTC.\nfunction tz_gmtoff() { return " .. west .. " }")
dj.define("// Its name, such as CET.\nfunction tz_name() { return " .. dj.quote(name) .. " }")
dj.define("// A moment as local time: \"Wed Jun 30 23:49:08 1993 CEST\".\n" ..
          "function tz_ctime(seconds) { return ctime(seconds - tz_gmtoff()) . \" \" . tz_name() }")
