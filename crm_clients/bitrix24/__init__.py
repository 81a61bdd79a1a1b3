"""Bitrix24: crm.item.* for contacts and deals, REST 3.0 for tasks."""
