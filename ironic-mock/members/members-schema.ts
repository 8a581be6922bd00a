/**
 * The tables of the processes that share the database. `shards` says which process worked on a shard last, and if it had
 * finished: who takes the shard's lock next reads from it how the work of its nodes was left.
 */
export const MEMBERS_SCHEMA = `
create table members (
  id integer generated always as identity primary key,
  host text not null unique,
  role text not null,
  conductor_group text not null,
  drivers text not null,
  url text,
  version text not null,
  stream integer not null,
  backend integer not null,
  backend_start timestamptz not null,
  created_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  is_online boolean not null default true
) with (fillfactor = 50);
create table rings (
  id integer generated always as identity primary key,
  name text not null unique
);
create table shards (
  lock integer primary key,
  stream integer not null,
  is_rested boolean not null
) with (fillfactor = 50);
`

/**
 * Tables of what the control APIs of the processes share: how they reach each other, the secret by which they know each other, and
 * the faults. `lab` has one row; its number of `faults` grows with each change of them, and each process notes the one
 * that it has in force.
 */
export const LAB_SCHEMA = `
alter table members add column control text;
alter table members add column clock text;
alter table members add column lab_time float8;
alter table members add column faults_seen bigint not null default 0;
create table lab (
  is_only boolean primary key default true check (is_only),
  secret text,
  faults bigint not null default 0
) with (fillfactor = 50);
insert into lab default values;
create table faults (
  id integer generated always as identity primary key,
  label text,
  fault text not null,
  times integer,
  after integer not null,
  probability float8 not null,
  passed integer not null default 0,
  struck integer not null default 0
) with (fillfactor = 50);
`

/**
 * Counted matches of faults until the process that asked has the answer: where its connection broke before, it asks again by
 * the id of the claim.
 */
export const CLAIMS_SCHEMA = `
create table fault_claims (
  claim text primary key,
  fault integer not null references faults (id) on delete cascade,
  strikes boolean not null,
  struck integer not null,
  at timestamptz not null default now()
);
`

/**
 * The machines that processes have, and the names of their nodes: a fault of one is accepted anywhere, one of none
 * nowhere, and a fault of a node strikes at its machine.
 */
export const MACHINES_SCHEMA = `
create table machines (
  name text not null,
  member integer not null references members (id) on delete cascade,
  node text not null,
  disks text not null,
  primary key (name, member)
);
create index machines_of_member on machines (member);
`
