#!/bin/bash
# Makes two Soft-RoCE devices that reach each other over a cable, as those of two machines do, and prints their names. Only for a
# dedicated virtual machine: it changes the routing, so that packets between the two leave the kernel through a veth pair.
set -e
ip link add softfield-a type veth peer name softfield-b
ip addr add 10.213.0.1/24 dev softfield-a
ip addr add 10.213.1.1/24 dev softfield-a # a second address, in a network of its own
ip addr add 10.213.0.2/24 dev softfield-b
ip link set softfield-a up
ip link set softfield-b up
for interface in all softfield-a softfield-b; do
	echo 1 >/proc/sys/net/ipv4/conf/$interface/accept_local
	echo 0 >/proc/sys/net/ipv4/conf/$interface/rp_filter
	echo 1 >/proc/sys/net/ipv4/conf/$interface/arp_ignore
done
ip route add 10.213.0.2 dev softfield-a src 10.213.0.1 table 101
ip route add 10.213.0.1 dev softfield-b src 10.213.0.2 table 102
ip rule add pref 10 from 10.213.0.1 to 10.213.0.2 iif lo lookup 101
ip rule add pref 11 from 10.213.0.2 to 10.213.0.1 iif lo lookup 102
ip rule add pref 20 lookup local
ip rule del pref 0
rdma link add rxea type rxe netdev softfield-a
rdma link add rxeb type rxe netdev softfield-b
echo rxea rxeb
