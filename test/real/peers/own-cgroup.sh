# Runs a program in a new control group: own-cgroup.sh NAME PROGRAM [ARGUMENT]...
# Without a program it removes the group, once all its processes have ended.
# Meant for a mount namespace of its own: no other group is changed, and this host's mounts stay as they are.
set -eu
group="/sys/fs/cgroup/$1"
shift
mount -t cgroup2 none /sys/fs/cgroup
if [ "$#" -gt 0 ]; then
  mkdir "$group"
  echo "$$" >"$group/cgroup.procs"
  exec "$@"
fi
[ -d "$group" ] || exit 0
i=0
while grep -q 'populated 1' "$group/cgroup.events" && [ "$i" -lt 100 ]; do
  sleep 0.05
  i=$((i + 1))
done
find "$group" -depth -type d -exec rmdir {} +
