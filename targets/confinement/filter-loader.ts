import { printfCommands } from '../supervised/shell-words.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { READ_ONLY_NEEDS, type CellNeeds } from './needs.js'
import { syscallFilter } from './syscall-filter.js'
import { isProcessor, NUMBERS, PROCESSORS, type ProcessorName } from './syscall-numbers.js'
import { syscallRules } from './syscall-rules.js'

/** A program of the target that loads a filter of system calls before it becomes the command. */
export type FilterLoader = 'setpriv' | 'perl' | 'bwrap' | 'python3'

/** How a target filters the system calls of commands. */
export interface SyscallFiltering {
  processor: ProcessorName
  loader: FilterLoader
}

/** Words around those of setpriv, which drops capabilities. All loaders read the filter from descriptor 8. */
interface LoaderWords {
  before?: string
  options?: string
  after?: (seccomp: number) => string
}

/** Descriptor of the filter; a plain shell only knows those of one digit. */
const FILTER = 8

/** SECCOMP_SET_MODE_FILTER, and SECCOMP_FILTER_FLAG_SPEC_ALLOW: the filter must not slow the processor down. */
const SECCOMP_WORDS = '1, 4'

/** The cheapest first. */
const LOADERS: Readonly<Record<FilterLoader, LoaderWords>> = {
  // Needs util-linux 2.41.
  setpriv: { options: `--no-new-privs --seccomp-filter=/proc/self/fd/${FILTER}` },
  perl: {
    options: '--no-new-privs',
    after: (seccomp) => `perl -e '
open my $file, "<&=", ${FILTER} or die "the filter of system calls: $!";
binmode $file;
my $filter = do { local $/; <$file> };
my $program = pack "S x![P] P", length($filter) / 8, $filter;
syscall(${seccomp}, ${SECCOMP_WORDS}, $program) == 0 or die "the filter of system calls was not loaded: $!";
exec { $ARGV[0] } @ARGV'`,
  },
  // It needs CAP_SYS_ADMIN itself, for its own mount namespace, in which everything stays where it is.
  bwrap: { before: `bwrap --dev-bind / / --cap-add ALL --seccomp ${FILTER} --` },
  // Python ignores two signals, also on behalf of the programs that it becomes.
  python3: {
    options: '--no-new-privs',
    after: (seccomp) => `python3 -I -S -c '
import ctypes, os, signal, struct, sys
data = open(${FILTER}, "rb").read()
kept = ctypes.create_string_buffer(data, len(data))
program = struct.pack("@HP", len(data) // 8, ctypes.addressof(kept))
if ctypes.CDLL(None).syscall(ctypes.c_long(${seccomp}), ${SECCOMP_WORDS}, program):
    sys.exit("the filter of system calls was not loaded")
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])'`,
  },
}

const LOADER_NAMES = Object.keys(LOADERS) as FilterLoader[]

/** Shell words that set privileges and load the filter from descriptor 8; the command follows them. */
export function privilegeWords(setprivOptions: string, filtering: SyscallFiltering | null): string {
  if (filtering === null) return `setpriv ${setprivOptions}`
  const { before, options, after } = LOADERS[filtering.loader]
  const seccomp = NUMBERS.seccomp[PROCESSORS[filtering.processor].column]
  return [before, 'setpriv', options, setprivOptions, after?.(seccomp)].filter((words) => words !== undefined).join(' ')
}

/** Shell commands that print the filter of a command. */
export const printedFilter = ({ processor }: SyscallFiltering, needs: CellNeeds): string =>
  printfCommands(syscallFilter(processor, syscallRules(needs, PROCESSORS[processor])))

/**
 * Tries the ways of a target to filter system calls. One counts only after it kept a process with all rights from making
 * a namespace, which it could make without the filter.
 *
 * @param machine as `uname -m` prints it
 */
export async function findFiltering(host: SupervisedExecutor, machine: string): Promise<SyscallFiltering | null> {
  if (!isProcessor(machine)) return null
  const [found] = await host.lines(probeScript(machine))
  return found?.tag === 'l' ? { processor: machine, loader: found.text as FilterLoader } : null
}

/** Prints `l LOADER`, or nothing. */
function probeScript(processor: ProcessorName): string {
  const options = '--inh-caps=-all --ambient-caps=-all --bounding-set=-all,+sys_admin,+kill'
  const attempts = LOADER_NAMES.map((loader) => {
    const words = privilegeWords(options, { processor, loader })
    return `[ -n "$loader" ] || ! command -v ${loader} >/dev/null 2>&1 || ! loads ${words} || loader=${loader}`
  })
  return `f=$base/filter-$$
{
${printedFilter({ processor, loader: 'setpriv' }, READ_ONLY_NEEDS)}
} >"$f"
# A status of its own: what cannot be started ends with another one.
loads() {
  unshare --mount --pid --fork --kill-child --mount-proc --ipc --uts unshare --cgroup --net "$@" \\
    sh -c 'unshare --mount true && exit 1; exit 77' ${FILTER}<"$f" >/dev/null 2>&1
  [ "$?" = 77 ]
}
loader=
${attempts.join('\n')}
rm -f "$f"
[ -z "$loader" ] || printf 'l %s\\n' "$loader"`
}
