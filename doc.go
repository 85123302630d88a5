package pando
