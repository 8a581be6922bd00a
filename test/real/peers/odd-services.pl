# Services that Node cannot be: they print a line for each that speaks to them. Their sockets are bound by relative names.
use strict;
use warnings;
use Socket;

$| = 1;
# It ends also when the test was killed.
alarm 3600;

sub bound {
  my ($name, $type) = @_;
  socket(my $socket, AF_UNIX, $type, 0) or die "socket: $!";
  bind($socket, pack_sockaddr_un($name)) or die "$name: $!";
  return $socket;
}

my $datagrams = bound('datagrams.sock', SOCK_DGRAM);
my $packets = bound('packets.sock', SOCK_SEQPACKET);
my $relative = bound('relative.sock', SOCK_STREAM);
listen($_, 5) or die "listen: $!" for $packets, $relative;
open(my $ready, '>', 'ready') or die "ready: $!";
close($ready);

while (1) {
  my $read = '';
  vec($read, fileno($_), 1) = 1 for $datagrams, $packets, $relative;
  select($read, undef, undef, undef);
  if (vec($read, fileno($datagrams), 1)) {
    recv($datagrams, my $text, 100, 0);
    print "datagram\n";
  }
  for my $service ($packets, $relative) {
    next unless vec($read, fileno($service), 1);
    accept(my $client, $service);
    print "connection\n";
  }
}
