#!/bin/sh
# Issues one licence key for an order in a CI job, once, however often the job runs again.
#
#   LKM_BASE_URL=https://licensing.example.com LKM_TOKEN=… LKM_PRODUCT=prod_… ci-issue-key.sh ORDER EXPIRES
#
# The order is the reference of the key: there is one key for it, for ever, and a job that is run again prints that one. Its
# number is no idempotency key: whoever guesses one could open the response that is kept under it. Exit 8 means that the
# outcome is not known: run the job again.
set -eu

order=$1 expires=$2
lkm keys create --max-activations 3 --expires "$expires" --reference "order-$order" --if-absent
