ham |word can you send me the draft before monday |sign marks:1 length:40
ham |word happy birthday dana coffee on monday |sign marks:2 length:39
ham |word can you send me the report before tuesday |sign marks:1 length:42
spam |word frank you have been chosen for a phone click here |sign marks:0 length:51
ham |word happy birthday frank coffee on monday |sign marks:2 length:40
ham |word eve says the meeting is on saturday at 12 |sign marks:0 length:41
ham |word happy birthday dana dinner on saturday |sign marks:2 length:41
ham |word can you send me the list before saturday |sign marks:1 length:41
ham |word ann says the meeting is on tuesday at 20 |sign marks:0 length:40
ham |word happy birthday dana coffee on friday |sign marks:2 length:39
ham |word ann are we still on for breakfast on friday |sign marks:1 length:45
ham |word the report is on your desk bob |sign marks:0 length:31
spam |word lose 5 pounds by friday money back |sign marks:0 length:35
spam |word frank you have been chosen for a holiday click here |sign marks:0 length:53
spam |word cheap loans from 5 percent no questions |sign marks:0 length:40
ham |word eve says the meeting is on tuesday at 12 |sign marks:0 length:40
ham |word can you send me the letter before friday |sign marks:1 length:41
spam |word chris you have been chosen for a holiday click here |sign marks:0 length:53
ham |word bob are we still on for coffee on tuesday |sign marks:1 length:43
spam |word act now ann your account wins a laptop |sign marks:0 length:40
spam |word cheap loans from 12 percent no questions |sign marks:0 length:41
ham |word the letter is on your desk dana |sign marks:0 length:32
spam |word lose 7 pounds by monday money back |sign marks:0 length:35
spam |word win a free car now only until friday |sign marks:1 length:38
ham |word happy birthday dana lunch on monday |sign marks:2 length:38
ham |word can you send me the report before tuesday |sign marks:1 length:42
ham |word running late start lunch without me |sign marks:0 length:36
spam |word congratulations your voucher is waiting click now |sign marks:1 length:51
spam |word last offer a free phone with every loan |sign marks:0 length:40
ham |word thanks for coffee see you on monday |sign marks:0 length:36
spam |word last offer a free car with every loan |sign marks:0 length:38
ham |word frank says the meeting is on monday at 10 |sign marks:0 length:41
ham |word thanks for breakfast see you on monday |sign marks:0 length:39
spam |word ann you have been chosen for a phone click here |sign marks:0 length:49
ham |word did you read the report that eve wrote |sign marks:1 length:39
spam |word claim your free car call 12 now |sign marks:0 length:32
ham |word happy birthday eve coffee on monday |sign marks:2 length:38
spam |word claim your free laptop call 12 now |sign marks:0 length:35
ham |word running late start coffee without me |sign marks:0 length:37
ham |word happy birthday eve breakfast on friday |sign marks:2 length:41
ham |word happy birthday eve lunch on saturday |sign marks:2 length:39
spam |word last offer a free car with every loan |sign marks:0 length:38
spam |word act now dana your account wins a car |sign marks:0 length:38
spam |word lose 10 pounds by saturday money back |sign marks:0 length:38
spam |word last offer a free voucher with every loan |sign marks:0 length:42
ham |word thanks for coffee see you on saturday |sign marks:0 length:38
ham |word thanks for lunch see you on friday |sign marks:0 length:35
ham |word frank are we still on for dinner on friday |sign marks:1 length:44
ham |word bob are we still on for coffee on saturday |sign marks:1 length:44
ham |word the list is on your desk chris |sign marks:0 length:31
ham |word can you send me the report before saturday |sign marks:1 length:43
spam |word act now ann your account wins a holiday |sign marks:0 length:41
ham |word dana says the meeting is on tuesday at 5 |sign marks:0 length:40
spam |word last offer a free voucher with every loan |sign marks:0 length:42
spam |word last offer a free laptop with every loan |sign marks:0 length:41
ham |word can you send me the contract before saturday |sign marks:1 length:45
spam |word act now bob your account wins a laptop |sign marks:0 length:40
spam |word claim your free laptop call 12 now |sign marks:0 length:35
ham |word can you send me the contract before tuesday |sign marks:1 length:44
ham |word can you send me the contract before monday |sign marks:1 length:43
spam |word bob you have been chosen for a voucher click here |sign marks:0 length:51
ham |word did you read the letter that chris wrote |sign marks:1 length:41
ham |word did you read the letter that chris wrote |sign marks:1 length:41
ham |word thanks for coffee see you on saturday |sign marks:0 length:38
ham |word happy birthday ann lunch on saturday |sign marks:2 length:39
spam |word bob you have been chosen for a holiday click here |sign marks:0 length:51
ham |word thanks for breakfast see you on friday |sign marks:0 length:39
ham |word running late start coffee without me |sign marks:0 length:37
ham |word the report is on your desk frank |sign marks:0 length:33
spam |word congratulations your laptop is waiting click now |sign marks:1 length:50
ham |word can you send me the list before saturday |sign marks:1 length:41
ham |word can you send me the draft before saturday |sign marks:1 length:42
ham |word running late start lunch without me |sign marks:0 length:36
spam |word claim your free voucher call 12 now |sign marks:0 length:36
spam |word win a free phone now only until saturday |sign marks:1 length:42
ham |word can you send me the draft before saturday |sign marks:1 length:42
spam |word claim your free car call 10 now |sign marks:0 length:32
ham |word the list is on your desk chris |sign marks:0 length:31
spam |word lose 12 pounds by friday money back |sign marks:0 length:36
ham |word thanks for dinner see you on tuesday |sign marks:0 length:37
spam |word chris you have been chosen for a voucher click here |sign marks:0 length:53
ham |word can you send me the contract before friday |sign marks:1 length:43
spam |word cheap loans from 12 percent no questions |sign marks:0 length:41
ham |word running late start breakfast without me |sign marks:0 length:40
spam |word act now ann your account wins a car |sign marks:0 length:37
spam |word congratulations your voucher is waiting click now |sign marks:1 length:51
ham |word running late start lunch without me |sign marks:0 length:36
spam |word chris you have been chosen for a holiday click here |sign marks:0 length:53
ham |word thanks for lunch see you on saturday |sign marks:0 length:37
ham |word ann says the meeting is on friday at 12 |sign marks:0 length:39
spam |word congratulations your holiday is waiting click now |sign marks:1 length:51
ham |word the report is on your desk frank |sign marks:0 length:33
spam |word congratulations your holiday is waiting click now |sign marks:1 length:51
spam |word congratulations your laptop is waiting click now |sign marks:1 length:50
ham |word ann says the meeting is on saturday at 20 |sign marks:0 length:41
ham |word the letter is on your desk ann |sign marks:0 length:31
spam |word win a free holiday now only until saturday |sign marks:1 length:44
spam |word win a free phone now only until tuesday |sign marks:1 length:41
spam |word win a free holiday now only until tuesday |sign marks:1 length:43
ham |word can you send me the report before saturday |sign marks:1 length:43
ham |word dana says the meeting is on tuesday at 12 |sign marks:0 length:41
spam |word lose 20 pounds by tuesday money back |sign marks:0 length:37
ham |word did you read the letter that bob wrote |sign marks:1 length:39
ham |word running late start coffee without me |sign marks:0 length:37
ham |word eve says the meeting is on friday at 10 |sign marks:0 length:39
ham |word happy birthday dana dinner on saturday |sign marks:2 length:41
ham |word happy birthday dana breakfast on monday |sign marks:2 length:42
ham |word can you send me the list before saturday |sign marks:1 length:41
spam |word claim your free laptop call 20 now |sign marks:0 length:35
ham |word dana says the meeting is on friday at 12 |sign marks:0 length:40
ham |word ann says the meeting is on monday at 12 |sign marks:0 length:39
spam |word claim your free car call 20 now |sign marks:0 length:32
spam |word claim your free phone call 7 now |sign marks:0 length:33
ham |word the letter is on your desk frank |sign marks:0 length:33
spam |word congratulations your holiday is waiting click now |sign marks:1 length:51
spam |word frank you have been chosen for a laptop click here |sign marks:0 length:52
ham |word thanks for breakfast see you on friday |sign marks:0 length:39
spam |word last offer a free laptop with every loan |sign marks:0 length:41
spam |word bob you have been chosen for a voucher click here |sign marks:0 length:51
spam |word win a free car now only until saturday |sign marks:1 length:40
